"""What a measured metric says of the paper's: reproduced, not resolved, contradicted, not run, or nothing to compare.

It knows rates, pairs and p-values, no run and no table. These are the verdicts, in the order in which they are decided.
"Differs" means a p-value below 5 %, adjusted by Holm over all metrics of the table.

- *not run*: the run has no row of the metric's task in its setting.
- *no paper value*: the paper's Table 2 has no such row or column, or is about another model or temperature.
- *contradicted*, by direction: the metric differs from Base's on the same rows (two-sided exact McNemar test) in the
  direction opposite to the paper's. Or by value: the paper's value lies outside our 95 % Wilson interval, and our rate
  and the paper's, taken as two independent samples of our n and its n, differ (two-sided exact test of Fisher), so that
  both sampling errors together do not explain it.
- *reproduced*: the paper's value lies inside our interval, its ends included; and for any model but Base the metric
  differs from Base's (McNemar) in the paper's direction.
- *not resolved*: anything else. The rows do not decide: no row has an outcome, the interval misses the paper's value by
  no more than sampling error, or no difference to Base is shown.

Base is compared by value alone. So is a model whose paper value equals Base's: the paper claims no direction there.
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
    """What the paper says of a metric, in percent as printed."""

    value: float
    base: float | None
    """Its value for Base; None where the metric is Base's own."""
    n: int
    """Rows behind it."""

    @property
    def direction(self) -> int:
        """1 where the paper has the model above Base, -1 below, 0 where it claims neither."""
        return 0 if self.base is None else (self.value > self.base) - (self.value < self.base)

    @property
    def rate(self) -> Rate:
        """The successes that print as this value."""
        return Rate(round(self.value / 100 * self.n), self.n)


@dataclass(frozen=True)
class Evidence:
    """What was measured of a metric."""

    rate: Rate
    total: int
    """Rows of the metric, with an outcome or without."""
    pairs: Pairs | None
    """Base's rows against the model's; None for Base itself."""
    p_base: float | None
    """Adjusted p-value of no difference to Base."""
    p_paper: float | None
    """Adjusted p-value of no difference to the paper's rate; None without one."""

    @property
    def direction(self) -> int:
        """1 where the metric is significantly above Base's, -1 below, 0 where no difference is shown."""
        if self.pairs is None or self.p_base is None or self.p_base >= LEVEL:
            return 0
        return (self.pairs.only_second > self.pairs.only_first) - (self.pairs.only_second < self.pairs.only_first)


@dataclass(frozen=True)
class Finding:
    """A verdict and, in a phrase, what it rests on."""

    verdict: Verdict
    because: str


def find(evidence: Evidence, claim: Claim | None) -> Finding:
    """The verdict on one metric, as the top of this file defines it."""
    if not evidence.total:
        return Finding("not run", "no such rows")
    if claim is None:
        return Finding("no paper value", _towards(evidence))
    interval = evidence.rate.interval()
    if interval is None:
        return Finding("not resolved", "no row has an outcome")
    inside = interval.low <= claim.value / 100 <= interval.high
    if evidence.direction * claim.direction < 0:
        told = f"{WORDS[evidence.direction]} from Base, {WORDS[claim.direction]} in the paper"
        return Finding("contradicted", told)
    if not inside and evidence.p_paper is not None and evidence.p_paper < LEVEL:
        return Finding("contradicted", "value outside, beyond sampling error")
    directed = not claim.direction or evidence.direction == claim.direction
    if inside and directed:
        return Finding("reproduced", _agreement(claim))
    return Finding("not resolved", _open(evidence, inside, directed))


def _agreement(claim: Claim) -> str:
    return f"value inside; {WORDS[claim.direction]}, as in the paper" if claim.direction else "value inside"


def _open(evidence: Evidence, inside: bool, directed: bool) -> str:
    reasons = [] if inside else ["value outside, within sampling error"]
    if not directed:
        reasons.append(_towards(evidence))
    return "; ".join(reasons)


def _towards(evidence: Evidence) -> str:
    """How the metric stands to Base's."""
    if evidence.pairs is None:
        return "Base itself"
    if not evidence.pairs.n:
        return "no row has an outcome in Base and here"
    return f"{WORDS[evidence.direction]} from Base" if evidence.direction else "no difference to Base shown"
