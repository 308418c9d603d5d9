"""Low-rank adapters on the projections of the language model, including linear attention but never a vision tower."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from eval.config import ConfigError
from train.training_config import Lora

if TYPE_CHECKING:
    from peft import LoraConfig, PeftModel
    from torch.nn import Module
    from transformers import PreTrainedModel

FORBIDDEN = re.compile(r"(^|\.)(visual|vision\w*|lm_head|embed_tokens)(\.|$)")
"""Modules that are never adapted: the vision tower, and those whose bare weights the fused head reads."""

LAYER = re.compile(r"\.layers\.(\d+)\.(.+)$")
"""The end of a module's name: the number of its layer and its path within the layer."""


def add_adapters(model: PreTrainedModel, lora: Lora) -> PeftModel:
    """`model` with fresh adapters, the only weights that are trained. Raises like `adapter_settings`."""
    from peft import get_peft_model
    from transformers.integrations.deepspeed import is_deepspeed_zero3_enabled

    # ZeRO-3 gathers weights in groups of one dtype (deepspeedai/DeepSpeed#8072); its optimizer uses float32 anyway.
    in_float32 = not is_deepspeed_zero3_enabled()
    return get_peft_model(model, adapter_settings(model, lora), autocast_adapter_dtype=in_float32)


def adapter_settings(model: PreTrainedModel, lora: Lora) -> LoraConfig:
    """PEFT's configuration of the adapters of `model`.

    Raises:
        ConfigError: `targets` is not a valid regex, matches no module, or matches one that must not be adapted.
    """
    from peft import LoraConfig

    try:
        matched = [name for name, _ in model.named_modules() if re.fullmatch(lora.targets, name)]
    except re.error as error:
        raise ConfigError(f"lora.targets is not a valid regex ({error}): {lora.targets}") from error
    if not matched:
        raise ConfigError(f"lora.targets matches no module of {type(model).__name__}: {lora.targets}")
    if wrong := [name for name in matched if FORBIDDEN.search(name)]:
        raise ConfigError(f"lora.targets matches {wrong[0]}, which must not be adapted: {lora.targets}")
    return LoraConfig(
        r=lora.r,
        lora_alpha=lora.alpha,
        lora_dropout=lora.dropout,
        target_modules=lora.targets,
        task_type="CAUSAL_LM",
    )


def trained_weights(model: Module) -> str:
    """A summary line with the number of trained weights and the adapted modules, then a line per kind of layer."""
    sizes = [(_size(weights), weights.requires_grad) for weights in model.parameters()]
    total, trained = sum(size for size, _ in sizes), sum(size for size, is_trained in sizes if is_trained)
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(adapted_modules(model).items()))
    summary = f"{trained:,} of {total:,} weights are trained" + (f"; adapters on {kinds}" if kinds else "")
    return "\n".join([summary, *(f"  {layers}: {', '.join(names)}" for layers, names in _by_layer(model))])


def _size(weights: Any) -> int:
    """Number of elements, including those that ZeRO-3 keeps on other processes."""
    return int(weights.ds_numel if hasattr(weights, "ds_numel") else weights.numel())


def adapted_modules(model: Module) -> Counter[str]:
    """How many modules have an adapter, by kind: "self_attn.q_proj", "linear_attn.in_proj_qkv"."""
    return Counter(".".join(name.split(".")[-2:]) for name in _adapted_names(model))


def _adapted_names(model: Module) -> list[str]:
    from peft.tuners.lora import LoraLayer

    return [name for name, module in model.named_modules() if isinstance(module, LoraLayer)]


def _by_layer(model: Module) -> Iterable[tuple[str, Sequence[str]]]:
    """Pairs ("layers 0-2, 4", names of the adapted modules in each of them), in the order of the layers."""
    of_layer: dict[int, list[str]] = {}
    outside = []
    for name in _adapted_names(model):
        if found := LAYER.search(name):
            of_layer.setdefault(int(found[1]), []).append(found[2])
        else:
            outside.append(name)
    alike: dict[tuple[str, ...], list[int]] = {}
    for layer in sorted(of_layer):
        alike.setdefault(tuple(sorted(of_layer[layer])), []).append(layer)
    for names, layers in alike.items():
        yield f"layer{'s' if len(layers) > 1 else ''} {_ranges(layers)}", names
    if outside:
        yield "outside the layers", outside


def _ranges(numbers: Sequence[int]) -> str:
    """Ascending numbers with consecutive ones as ranges: "0-2, 4"."""
    starts = [numbers[0], *(after for before, after in pairwise(numbers) if after != before + 1)]
    ends = [*(before for before, after in pairwise(numbers) if after != before + 1), numbers[-1]]
    return ", ".join(f"{start}-{end}" if end > start else str(start) for start, end in zip(starts, ends, strict=True))
