"""Whether two sides compute with the same weights: compares their log-probs of a short greedy continuation.

One side serves the weights, the other is a transformers model with them. The doctor runs this before a run
(`served_weights.py`), and a trainer when it first syncs its weights to vLLM (`train/weight_sync.py`). Knows neither
engine nor trainer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from torch import Tensor

TOKENS = 8
"""Number of greedy tokens that are compared: likely tokens, whose log-probs are least affected by rounding."""
TOLERANCE = 0.01
"""Largest allowed difference of a log-prob if both sides compute in float32."""
ROUNDED = 0.25
"""Largest allowed difference if either side rounds to 16 bits. bfloat16 has 8 bits of precision: logits from 16 to 32
are 0.125 apart, so each side errs by half of that, plus what its kernels rounded before. For SmolLM2-135M's likeliest
tokens at 122 positions, bfloat16 changed the log-prob by 0.02 on average and by at most 0.18, and by at most 0.08 with
the perturbed norm."""


class Served(NamedTuple):
    """The serving side's continuation of a text."""

    ids: tuple[int, ...]
    log_probs: tuple[float, ...]


class Comparison(NamedTuple):
    """A served continuation, and the largest difference of its log-probs from transformers'."""

    served: Served
    difference: float


def compare(model: Any, ids: Sequence[int], served: Served) -> Comparison:
    """Compare the served continuation of `ids` with a transformers model. NaN counts as an infinite difference.

    Raises:
        ValueError: log-probs are missing, or the continuation is empty.
    """
    own = log_probs(model, ids, served.ids)
    return Comparison(served, max(_difference(*pair) for pair in zip(served.log_probs, own, strict=True)))


def log_probs(model: Any, ids: Sequence[int], continuation: Sequence[int]) -> list[float]:
    """The log-prob of each token of `continuation` after `ids`, by a transformers model at temperature 1."""
    import torch

    with torch.no_grad():
        row = torch.tensor([[*ids, *continuation]], device=model.device)
        logits = model(input_ids=row, use_cache=False).logits[0].float()
    rows = torch.log_softmax(logits[len(ids) - 1 : -1], dim=-1)
    return [float(row[token]) for row, token in zip(rows, continuation, strict=True)]


def tolerance(*dtypes: str) -> float:
    """The largest allowed difference of a log-prob between sides with these precisions, such as "bfloat16"."""
    return TOLERANCE if set(dtypes) == {"float32"} else ROUNDED


def is_last_norm(name: str) -> bool:
    """Whether `name` is the weight of the last normalization, which affects every logit."""
    return name.endswith("model.norm.weight")


def perturbed(weights: Tensor) -> Tensor:
    """Different weights for the last normalization, smaller, so that logits and their rounding do not grow.

    Scaled and also shifted, because Qwen3.5's norm multiplies by 1 + weight and its fresh weights are 0.
    """
    return weights * 0.75 - 0.1


def mismatch(comparison: Comparison, allowed: float) -> str | None:
    """The problem if log-probs differ by more than `allowed`, else None."""
    if comparison.difference <= allowed:
        return None
    return f"log-probs of a fixed text differ from transformers' by {comparison.difference:.2g}, {allowed:g} is allowed"


def stale(before: Comparison, after: Comparison) -> str | None:
    """The problem if a perturbed weight did not change what is served, else None."""
    if before.served != after.served:
        return None
    return "log-probs of a fixed text are the same after a weight was perturbed: other weights are served than given"


def _difference(served: float, own: float) -> float:
    difference = abs(served - own)
    return difference if difference == difference else float("inf")
