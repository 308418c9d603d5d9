"""Whether adapters reach the layers, get gradients, and change what the model says; and how long a pass takes.

Adapters can be attached and dead: a target list for ordinary attention skips the linear layers of Qwen3.5, and names
that differ between the class that trains and the class that serves leave adapters without effect (TuFT#149).
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from eval.checks.finding import Finding, failed, passed, warned
from train.adapters import adapted_modules, add_adapters
from train.sft_config import Lora

if TYPE_CHECKING:
    from peft import PeftModel
    from torch import Tensor
    from transformers import PreTrainedModel

MIXER = re.compile(r"\.layers\.(\d+)\.(self_attn|linear_attn)\.")
LAYER = re.compile(r"\.layers\.(\d+)\.")
SAME = 1e-4
"""Largest change of a logit by adapters that have learned nothing; logits are of the order of 10."""
NUDGE = 0.05
"""Standard deviation of what is added to an adapter, to see the logits change."""


@dataclass(frozen=True)
class Reach:
    """What was found of adapted weights."""

    finding: Finding
    seconds_per_token: float
    """Of a forward and a backward pass over one example."""


def reach_of(model: PreTrainedModel, lora: Lora | None, ids: Sequence[int], labels: Sequence[int]) -> Reach:
    """Train nothing, but look what would be trained on one example: its gradient, and what a change of it does.

    Args:
        model: fresh weights, which are changed.
        ids, labels: of an example, equally long; a label of -100 is left out of the loss.

    Raises:
        ConfigError: the targets are no regex, or match nothing or what must not be adapted.
    """
    model.eval()
    before = _logits(model, ids)
    if lora is None:
        seconds = _backward(model, ids, labels)
        return Reach(passed("all weights are trained"), seconds / len(ids))
    adapted = add_adapters(model, lora).eval()
    fresh = (_logits(adapted, ids) - before).abs().max().item()
    seconds = _backward(adapted, ids, labels)
    return Reach(_judged(adapted, model, before, fresh, ids), seconds / len(ids))


def layers_reached(model: PreTrainedModel, lora: Lora, why_no_more: str) -> Finding:
    """Which layers adapters would reach, by the names of modules alone.

    Args:
        model: without weights, on torch's device "meta".
        why_no_more: why nothing was computed.
    """
    told = f"{_kinds(adapted := add_adapters(model, lora))}; logits not compared: {why_no_more}"
    return _covered(list(_lora_b(adapted)), model, told) or warned(told, "run the doctor where the run will be")


def _judged(adapted: PeftModel, model: PreTrainedModel, before: Tensor, fresh: float, ids: Sequence[int]) -> Finding:
    kinds, lora_b = _kinds(adapted), _lora_b(adapted)
    if not fresh <= SAME:
        return failed(f"adapters that have learned nothing change a logit by {fresh:.2g}", "look at the pins of peft")
    dead = [name for name, weights in lora_b.items() if weights.grad is None or not weights.grad.abs().max() > 0]
    if dead:
        todo = "choose lora.targets that the model computes its logits with"
        return failed(f"{len(dead)} of {len(lora_b)} adapters get no gradient, such as {dead[0]}", todo)
    change = _change(adapted, lora_b, before, ids)
    if not change > SAME:
        return failed(
            f"a change of all adapters changes no logit ({kinds})", "look at lora.targets and the pins of peft"
        )
    told = f"{kinds}; a nudge changes a logit by {change:.2g}"
    return _covered(list(lora_b), model, told) or passed(f"every layer: {told}")


def _covered(names: Sequence[str], model: PreTrainedModel, told: str) -> Finding | None:
    """A warning where some layers are reached, or their attention is, and others are not."""
    layers = int(model.config.get_text_config().num_hidden_layers)
    reached = {int(match[1]) for name in names if (match := LAYER.search(name))}
    mixed = {int(match[1]) for name in names if (match := MIXER.search(name))}
    unreached = layers - len(mixed or reached)
    if not unreached:
        return None
    what = "without adapters on their attention" if mixed else "without adapters"
    todo = "the default of lora.targets reaches every projection, of linear attention too"
    return warned(f"{unreached} of {layers} layers are {what}: {told}", todo)


def _kinds(adapted: PeftModel) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in sorted(adapted_modules(adapted).items()))


def _lora_b(adapted: PeftModel) -> dict[str, Any]:
    """The matrices that are zero in adapters that have learned nothing, by name."""
    return {name: weights for name, weights in adapted.named_parameters() if ".lora_B." in name}


def _change(adapted: PeftModel, lora_b: dict[str, Tensor], before: Tensor, ids: Sequence[int]) -> float:
    """Largest change of a logit when something is added to every adapter."""
    import torch

    drawn = torch.Generator(device="cpu").manual_seed(0)
    with torch.no_grad():
        for weights in lora_b.values():
            weights.add_(NUDGE * torch.randn(weights.shape, generator=drawn).to(weights))
    return float((_logits(adapted, ids) - before).abs().max().item())


def _logits(model: Any, ids: Sequence[int]) -> Tensor:
    import torch

    with torch.no_grad():
        return model(torch.tensor([list(ids)], device=model.device)).logits[0].float()  # type: ignore[no-any-return]


def _backward(model: Any, ids: Sequence[int], labels: Sequence[int]) -> float:
    """Seconds of a forward and a backward pass, behind which the gradients are there."""
    import torch

    started = time.monotonic()
    row, wanted = (torch.tensor([list(one)], device=model.device) for one in (ids, labels))
    loss = model(row, labels=wanted).loss
    if loss.requires_grad:  # else no adapter bears on it, and none gets a gradient
        loss.backward()
    if model.device.type == "cuda":
        torch.cuda.synchronize()
    return time.monotonic() - started
