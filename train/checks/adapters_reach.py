"""Whether adapters reach the layers, get gradients and change the logits; and how long a training pass takes.

Adapters can be attached without effect: a target list for ordinary attention skips the linear layers of Qwen3.5, and
weight names that differ between the training and the serving class leave adapters unused (TuFT#149).
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from eval.checks.finding import Finding, failed, passed, warned
from train.adapters import adapted_modules, add_adapters
from train.training_config import Lora

if TYPE_CHECKING:
    from peft import PeftModel
    from torch import Tensor
    from transformers import PreTrainedModel

MIXER = re.compile(r"\.layers\.(\d+)\.(self_attn|linear_attn)\.")
LAYER = re.compile(r"\.layers\.(\d+)\.")
SAME = 1e-4
"""Largest allowed change of a logit by untrained adapters; logits are around 10."""
NOISE = 0.05
"""Standard deviation of the noise added to each adapter to see whether logits change."""


@dataclass(frozen=True)
class Reach:
    """The result of checking the adapted weights."""

    finding: Finding
    seconds_per_token: float
    """Of a forward and a backward pass over one example."""


def reach_of(model: PreTrainedModel, lora: Lora | None, ids: Sequence[int], labels: Sequence[int]) -> Reach:
    """Check on one example, without training, that the adapters get gradients and that changing them changes logits.

    Args:
        model: fresh weights, which this modifies.
        ids, labels: an example, of equal length; labels of -100 are excluded from the loss.

    Raises:
        ConfigError: the targets are not a valid regex, match nothing, or match a module that must not be adapted.
    """
    model.eval()
    before = _logits(model, ids)
    if lora is None:
        seconds = _backward(model, ids, labels)
        return Reach(passed("all weights are trained"), seconds / len(ids))
    adapted = add_adapters(model, lora).eval()
    fresh = (_logits(adapted, ids) - before).abs().max().item()
    seconds = _backward(adapted, ids, labels)
    return Reach(_reach_finding(adapted, model, before, fresh, ids), seconds / len(ids))


def layers_reached(model: PreTrainedModel, lora: Lora, why_no_more: str) -> Finding:
    """Which layers the adapters would reach, judging only by module names.

    Args:
        model: a model without weights, on torch's "meta" device.
        why_no_more: why nothing was computed.
    """
    summary = f"{_kinds(adapted := add_adapters(model, lora))}; logits not compared: {why_no_more}"
    todo = "run the doctor on the machine of the run"
    return _coverage_warning(list(_lora_b(adapted)), model, summary) or warned(summary, todo)


def _reach_finding(
    adapted: PeftModel, model: PreTrainedModel, before: Tensor, fresh: float, ids: Sequence[int]
) -> Finding:
    kinds, lora_b = _kinds(adapted), _lora_b(adapted)
    if not fresh <= SAME:
        return failed(f"untrained adapters change a logit by {fresh:.2g}", "check the pins of peft")
    dead = [name for name, weights in lora_b.items() if weights.grad is None or not weights.grad.abs().max() > 0]
    if dead:
        todo = "choose lora.targets among modules that affect the logits"
        return failed(f"{len(dead)} of {len(lora_b)} adapters get no gradient, such as {dead[0]}", todo)
    change = _change(adapted, lora_b, before, ids)
    if not change > SAME:
        return failed(f"changing all adapters changes no logit ({kinds})", "check lora.targets and the pins of peft")
    summary = f"{kinds}; noise on them changes a logit by {change:.2g}"
    return _coverage_warning(list(lora_b), model, summary) or passed(f"every layer: {summary}")


def _coverage_warning(names: Sequence[str], model: PreTrainedModel, summary: str) -> Finding | None:
    """A warning if only some layers, or only some layers' attention, are adapted; else None."""
    layers = int(model.config.get_text_config().num_hidden_layers)
    reached = {int(match[1]) for name in names if (match := LAYER.search(name))}
    mixed = {int(match[1]) for name in names if (match := MIXER.search(name))}
    unreached = layers - len(mixed or reached)
    if not unreached:
        return None
    what = "without adapters on their attention" if mixed else "without adapters"
    todo = "use the default of lora.targets, which reaches every projection, including linear attention"
    return warned(f"{unreached} of {layers} layers are {what}: {summary}", todo)


def _kinds(adapted: PeftModel) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in sorted(adapted_modules(adapted).items()))


def _lora_b(adapted: PeftModel) -> dict[str, Any]:
    """The matrices B, which are zero in untrained adapters, by name."""
    return {name: weights for name, weights in adapted.named_parameters() if ".lora_B." in name}


def _change(adapted: PeftModel, lora_b: dict[str, Tensor], before: Tensor, ids: Sequence[int]) -> float:
    """Largest change of a logit when noise is added to every adapter."""
    import torch

    generator = torch.Generator(device="cpu").manual_seed(0)
    with torch.no_grad():
        for weights in lora_b.values():
            weights.add_(NOISE * torch.randn(weights.shape, generator=generator).to(weights))
    return float((_logits(adapted, ids) - before).abs().max().item())


def _logits(model: Any, ids: Sequence[int]) -> Tensor:
    import torch

    with torch.no_grad():
        return model(torch.tensor([list(ids)], device=model.device)).logits[0].float()  # type: ignore[no-any-return]


def _backward(model: Any, ids: Sequence[int], labels: Sequence[int]) -> float:
    """Run a forward and a backward pass, which leaves gradients in the weights; returns its duration in seconds."""
    import torch

    started = time.monotonic()
    row, targets = (torch.tensor([list(one)], device=model.device) for one in (ids, labels))
    loss = model(row, labels=targets).loss
    if loss.requires_grad:  # otherwise no adapter affects the loss, and none gets a gradient
        loss.backward()
    if model.device.type == "cuda":
        torch.cuda.synchronize()
    return time.monotonic() - started
