"""Verdicts on the paper's values: reproduced, not resolved, contradicted, not run, or no paper value.

It knows rates, pairs and p-values, no run and no table. The verdicts, in the order in which they are decided, where
"differs" means a p-value below 5 %, adjusted by Holm over all metrics of the table:

- *not run*: the run has no row of the metric's task in its setting.
- *no paper value*: the paper's Table 2 has no such row or column, or is about another model or temperature.
- *contradicted*, by direction: the metric differs from Base's on the same rows (two-sided exact McNemar test) in the
  direction opposite to the paper's. Or by value: the paper's value lies outside the measured 95 % Wilson interval, and
  the measured rate and the paper's, as independent samples of their sizes n, differ (two-sided exact test of Fisher),
  so that sampling error does not explain it.
- *reproduced*: the paper's value lies inside the measured interval, ends included; and, for any model except Base, the
  metric differs from Base's (McNemar) in the paper's direction.
- *not resolved*: anything else. No row has an outcome, the paper's value is outside the interval but within sampling
  error, or no difference to Base is shown.

Base is compared only by value. So is a model whose paper value equals Base's: the paper claims no direction there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from eval.stats.paired import Pairs
from eval.stats.rates import Rate

Verdict = Literal["reproduced", "not resolved", "contradicted", "not run", "no paper value"]

LEVEL = 0.05
WORDS = {1: "up", 0: "level", -1: "down"}


@dataclass(frozen=True)
class Claim:
    """The paper's value of a metric, in percent as printed."""

    value: float
    base: float | None
    """The paper's value for Base; None if the metric is Base's own."""
    n: int
    """Rows of the paper's task."""

    @property
    def direction(self) -> int:
        """1 if the paper has the model above Base, -1 if below, 0 if it claims neither."""
        return 0 if self.base is None else (self.value > self.base) - (self.value < self.base)

    @property
    def rate(self) -> Rate:
        """The successes that print as this value."""
        return Rate(round(self.value / 100 * self.n), self.n)


@dataclass(frozen=True)
class Evidence:
    """The measurement of a metric."""

    rate: Rate
    total: int
    """Rows of the metric, with or without an outcome."""
    pairs: Pairs | None
    """Base's rows paired with the model's; None for Base itself."""
    p_base: float | None
    """Adjusted p-value of no difference to Base."""
    p_paper: float | None
    """Adjusted p-value of no difference to the paper's rate; None without a paper value."""

    @property
    def direction(self) -> int:
        """1 if the metric is significantly above Base's, -1 if below, 0 if no difference is shown."""
        if self.pairs is None or self.p_base is None or self.p_base >= LEVEL:
            return 0
        return (self.pairs.only_second > self.pairs.only_first) - (self.pairs.only_second < self.pairs.only_first)


@dataclass(frozen=True)
class Finding:
    """A verdict and, in a phrase, its reason."""

    verdict: Verdict
    because: str


def find(evidence: Evidence, claim: Claim | None) -> Finding:
    """The verdict on one metric, as defined at the top of this file."""
    if not evidence.total:
        return Finding("not run", "no such rows")
    if claim is None:
        return Finding("no paper value", _against_base(evidence))
    interval = evidence.rate.interval()
    if interval is None:
        return Finding("not resolved", "no row has an outcome")
    inside = interval.low <= claim.value / 100 <= interval.high
    if evidence.direction * claim.direction < 0:
        directions = f"{WORDS[evidence.direction]} from Base, {WORDS[claim.direction]} in the paper"
        return Finding("contradicted", directions)
    if not inside and evidence.p_paper is not None and evidence.p_paper < LEVEL:
        return Finding("contradicted", "value outside, beyond sampling error")
    same_direction = not claim.direction or evidence.direction == claim.direction
    if inside and same_direction:
        return Finding("reproduced", _agreement(claim))
    return Finding("not resolved", _why_not_resolved(evidence, inside, same_direction))


def _agreement(claim: Claim) -> str:
    return f"value inside; {WORDS[claim.direction]}, as in the paper" if claim.direction else "value inside"


def _why_not_resolved(evidence: Evidence, inside: bool, same_direction: bool) -> str:
    reasons = [] if inside else ["value outside, within sampling error"]
    if not same_direction:
        reasons.append(_against_base(evidence))
    return "; ".join(reasons)


def _against_base(evidence: Evidence) -> str:
    """The difference of the metric to Base's, in a phrase."""
    if evidence.pairs is None:
        return "Base itself"
    if not evidence.pairs.n:
        return "no row has an outcome in both Base and this run"
    return f"{WORDS[evidence.direction]} from Base" if evidence.direction else "no difference to Base shown"
