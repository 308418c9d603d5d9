"""Saves the trained weights as a regular model folder: adapters merged in float32, files verified by reading them back.

Always loads models with `AutoModelForCausalLM`, which loads only the language model of a multimodal checkpoint. A
folder saved by that class must not be loaded with another one, whose weights have other names.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eval.config import ConfigError
from eval.run_dir import write_through
from eval.weights import check_model_folder

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedModel

TOLERANCE = 1e-3
"""Largest allowed difference of a logit (logits are around 10) between adapted and merged weights, both in float32."""
TOKENIZER_PATTERNS = (
    *("tokenizer*", "vocab.json", "merges.txt", "added_tokens.json", "special_tokens_map.json", "chat_template*"),
    "generation_config.json",
)


def merge_adapters(base: Path, adapters: Path, sample: Sequence[Sequence[int]]) -> PreTrainedModel:
    """The model in `base` with the adapters in `adapters` added to its weights, in float32 on the CPU.

    Args:
        sample: token ids of a few texts on which the merged and the adapted model must agree.

    Raises:
        ConfigError: their logits differ.
    """
    from peft import PeftModel

    adapted = PeftModel.from_pretrained(open_model(base), str(adapters)).eval()
    before = [logits(adapted, ids) for ids in sample]
    merged: Any = adapted.merge_and_unload()
    worst = max(
        (after - then).abs().max().item() for after, then in zip(_all_logits(merged, sample), before, strict=True)
    )
    if not worst <= TOLERANCE:  # also true for NaN
        raise ConfigError(
            f"merged and adapted weights differ by {worst:.2g} in a logit; the adapters are in {adapters}"
        )
    return merged  # type: ignore[no-any-return]


def with_weights(weights: Mapping[str, Tensor], base: Path) -> PreTrainedModel:
    """The model in `base` with other `weights`, in float32 on the CPU, without any setting of the training."""
    model = open_model(base)
    model.load_state_dict(weights)
    return model


def save_model(model: PreTrainedModel, base: Path, folder: Path, sample: Sequence[Sequence[int]]) -> None:
    """Write `model` with the tokenizer and chat template of `base` to `folder`, in the precision of `base`.

    `folder` appears complete or not at all: files are written to a folder beside it, and read back before the rename.

    Raises:
        ConfigError: the written files do not reproduce the model: names, values or logits differ.
    """
    import torch
    from transformers import AutoConfig

    partial = folder.with_name(f".{folder.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    dtype = AutoConfig.from_pretrained(base).get_text_config().dtype or torch.float32
    for weights in model.parameters():  # `model.to` would also round the rotary frequencies
        weights.data = weights.data.to(dtype)
    model.save_pretrained(partial)
    for path in {path for pattern in TOKENIZER_PATTERNS for path in base.glob(pattern)}:
        shutil.copyfile(path, partial / path.name)
    write_through(partial)
    check_model_folder(partial)
    _check_equal(open_model(partial, dtype), model, sample, folder)
    shutil.rmtree(folder, ignore_errors=True)
    partial.rename(folder)


def open_model(folder: Path, dtype: Any = None) -> PreTrainedModel:
    """The language model in `folder`, in float32 by default.

    Raises:
        ConfigError: a weight is missing.
    """
    import torch
    from transformers import AutoModelForCausalLM

    opened: Any = AutoModelForCausalLM.from_pretrained(folder, dtype=dtype or torch.float32, output_loading_info=True)
    model, report = opened
    if absent := sorted(report["missing_keys"]):
        raise ConfigError(f"the weights in {folder} lack {len(absent)} tensors of {type(model).__name__}: {absent[0]}")
    return model.eval()  # type: ignore[no-any-return]


def logits(model: Any, ids: Sequence[int]) -> Tensor:
    """Logits (tokens, vocabulary) of one text, in float32."""
    import torch

    with torch.inference_mode():
        output: Tensor = model(torch.tensor([list(ids)], device=model.device)).logits[0].float()
    return output


def _all_logits(model: Any, sample: Sequence[Sequence[int]]) -> list[Tensor]:
    return [logits(model, ids) for ids in sample]


def _check_equal(saved: PreTrainedModel, model: PreTrainedModel, sample: Sequence[Sequence[int]], folder: Path) -> None:
    written, given = saved.state_dict(), model.state_dict()
    if written.keys() != given.keys():
        differing = sorted(written.keys() ^ given.keys())
        raise ConfigError(f"{folder} would have other weights than the model: {differing[:3]}")
    if empty := [name for name, tensor in written.items() if not tensor.numel()]:
        raise ConfigError(f"{folder} would have empty weights: {empty[:3]}")
    if wrong := [name for name, tensor in written.items() if not tensor.equal(given[name].cpu())]:
        raise ConfigError(f"{folder} would have other values than the model: {wrong[:3]}")
    for before, after in zip(_all_logits(model, sample), _all_logits(saved, sample), strict=True):
        if not before.cpu().allclose(after, atol=TOLERANCE):
            raise ConfigError(f"{folder} would have other logits than the model")
