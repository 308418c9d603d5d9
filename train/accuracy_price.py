"""The price of lost accuracy: a Lagrange multiplier on the constraint that held-out accuracy stays near its start.

Projected dual ascent, as in constrained policy optimization (arXiv 1801.08757, eq. 9): after each probe the multiplier
changes by `step` times the violation in percentage points, decreasing once accuracy is back, and stays in [0, `most`].
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from eval.stats.rates import Rate
from train.callbacks import points_lost
from train.rl_config import AccuracyPrice


def updated_multiplier(multiplier: float, before: Rate, now: Rate, price: AccuracyPrice) -> float:
    """The multiplier after a probe with accuracy `now`; unchanged if either accuracy is unknown."""
    fall = points_lost(before, now)
    if fall is None:
        return multiplier
    return min(price.most, max(0.0, multiplier + price.step * (fall - price.margin)))


def multiplier_after(lines: Iterable[Mapping[str, Any]], until: int, price: AccuracyPrice) -> float:
    """The multiplier after the probes in a log, up to and including optimizer step `until`."""
    rates = {line["step"]: Rate(*line["accuracy"]) for line in lines if "probe" in line and line["step"] <= until}
    multiplier = 0.0
    for step in sorted(rates):
        if step:
            multiplier = updated_multiplier(multiplier, rates.get(0, Rate(0, 0)), rates[step], price)
    return multiplier
