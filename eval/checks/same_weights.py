"""Whether two sides compute with the same weights: their log-probs of a short greedy continuation, and those of others.

One side serves the weights, the other is transformers with them. The doctor asks before a run (`served_weights.py`), a
trainer when it has first handed its weights to vLLM (`train/weight_sync.py`). It knows neither engine nor trainer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from torch import Tensor

TOKENS = 8
"""Greedy tokens that are compared: likely ones, whose log-probs rounding moves least."""
TOLERANCE = 0.01
"""Largest difference of a log-prob between sides that both compute in float32."""
ROUNDED = 0.25
"""The same where one rounds to 16 bits. bfloat16 keeps 8 bits: logits from 16 to 32 are 0.125 apart, so that each side
errs by half of that, and by what its kernels have rounded before. Of SmolLM2-135M's likeliest tokens at 122 places,
bfloat16 moved the log-prob by 0.02 in the mean and by 0.18 at most, 0.08 with the moved norm."""


class Said(NamedTuple):
    """How the serving side goes on with a text."""

    ids: tuple[int, ...]
    log_probs: tuple[float, ...]


class Compared(NamedTuple):
    """What was served, and how far its log-probs are from transformers' at most."""

    said: Said
    apart: float


def compared(model: Any, ids: Sequence[int], said: Said) -> Compared:
    """Hold what was served behind `ids` against `model`, of transformers. A nan on either side is far apart.

    Raises:
        ValueError: log-probs are missing or nothing was said.
    """
    own = log_probs(model, ids, said.ids)
    return Compared(said, max(_distance(*pair) for pair in zip(said.log_probs, own, strict=True)))


def log_probs(model: Any, ids: Sequence[int], said: Sequence[int]) -> list[float]:
    """Of the tokens `said` behind `ids`, by a model of transformers at temperature 1."""
    import torch

    with torch.no_grad():
        logits = model(input_ids=torch.tensor([[*ids, *said]], device=model.device), use_cache=False).logits[0].float()
    rows = torch.log_softmax(logits[len(ids) - 1 : -1], dim=-1)
    return [float(row[token]) for row, token in zip(rows, said, strict=True)]


def allowed(*dtypes: str) -> float:
    """The largest difference of a log-prob between sides of these precisions, such as "bfloat16"."""
    return TOLERANCE if set(dtypes) == {"float32"} else ROUNDED


def is_last_norm(name: str) -> bool:
    """Whether weights of this name are the last normalisation's, which bear on every logit."""
    return name.endswith("model.norm.weight")


def moved(weights: Tensor) -> Tensor:
    """Other weights of the last normalisation: smaller, so that logits and their rounding do not grow.

    Scaled and shifted, for Qwen3.5's multiply by one more than they are.
    """
    return weights * 0.75 - 0.1


def differing(found: Compared, most: float) -> str | None:
    """What is wrong if log-probs differ by more than `most`."""
    if found.apart <= most:
        return None
    return f"log-probs of a fixed text differ from transformers' by {found.apart:.2g}, {most:g} is allowed"


def unmoved(before: Compared, after: Compared) -> str | None:
    """What is wrong if the same is said after a weight was moved as before."""
    if before.said != after.said:
        return None
    return "a weight was moved and the log-probs of a fixed text are the same: other weights are served than given"


def _distance(served: float, own: float) -> float:
    apart = abs(served - own)
    return apart if apart == apart else float("inf")
