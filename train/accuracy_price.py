"""What a fall of accuracy costs: a Lagrange multiplier on the constraint that held-out accuracy stays near its start.

Projected dual ascent, as in constrained policy optimization (arXiv 1801.08757, eq. 9): after each probe the multiplier
moves by `step` times the violation in points, down too once accuracy is back, and never below 0 or above `most`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from eval.stats.rates import Rate
from train.callbacks import points_lost
from train.rl_config import AccuracyPrice


def raised(multiplier: float, before: Rate, now: Rate, price: AccuracyPrice) -> float:
    """The multiplier after a probe that found accuracy `now`; as it was where a rate is unknown."""
    fall = points_lost(before, now)
    if fall is None:
        return multiplier
    return min(price.most, max(0.0, multiplier + price.step * (fall - price.margin)))


def multiplier_after(lines: Iterable[Mapping[str, Any]], until: int, price: AccuracyPrice) -> float:
    """The multiplier that the probes in a log lead to, up to optimizer step `until`."""
    found = {line["step"]: Rate(*line["accuracy"]) for line in lines if "probe" in line and line["step"] <= until}
    multiplier = 0.0
    for step in sorted(found):
        if step:
            multiplier = raised(multiplier, found.get(0, Rate(0, 0)), found[step], price)
    return multiplier
