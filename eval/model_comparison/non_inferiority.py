"""Whether a model has lost more of a metric than is allowed, on the rows that both models have an outcome for.

With a margin of m points and d the rate of the new model minus that of the base, one-sided, at a level of 5 %:

- *worse*: the test of "d >= -m" rejects, its p-value adjusted by Holm over all metrics of the gate. A model that is as
  good as allowed is called worse in any metric at most 5 % of the time. Turned about: a fall that the rows don't show
  to be larger than m passes, so choose n by `python -m eval.plan --paired`.
- *within*: the test of "d <= -m" rejects: the new model is shown to be non-inferior.
- *not resolved*: neither. The rows do not say; with m = 0 two equal models end here.
- *cannot tell*: the new model has lost the outcome of so many rows (no user turn, no judgement, no grade, where the
  base has one) that it would be *worse* if all of these counted as failures. An unknown row is no failure, but a gate
  that unknown rows can open is none.

Both tests take the adjusted Wald statistic of Bonett and Price 2012, see `eval/stats/paired.py`. For a single metric,
*worse* is the same as a 90 % interval of d wholly below -m, *within* one wholly above.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from eval.config import ConfigError
from eval.model_comparison.measured_model import MeasuredModel
from eval.model_comparison.metric import Metric, parse_metric, rate_of
from eval.stats.paired import Pairs, holm, pair
from eval.stats.rates import Rate

Result = Literal["worse", "cannot tell", "not resolved", "within"]

LEVEL = 0.05
CONFIDENCE = 0.90
"""Of a two-sided interval whose ends are those of one-sided tests at the level."""


@dataclass(frozen=True)
class Check:
    """One metric of the gate."""

    metric: Metric
    margin: float
    """Points that it may fall by."""
    base: Mapping[str, bool | None]
    new: Mapping[str, bool | None]
    pairs: Pairs
    p: float | None
    """Adjusted p-value of having fallen by the margin or less."""
    result: Result

    @property
    def rates(self) -> tuple[Rate, Rate]:
        """Of the base and of the new model, each over all its own rows."""
        return rate_of(self.base), rate_of(self.new)

    @property
    def turned_bad(self) -> list[str]:
        """Ids of the rows that were good in the base and are bad in the new model, in the order of its file."""
        return [id for id, outcome in self.new.items() if outcome is False and self.base.get(id)]

    @property
    def turned_good(self) -> list[str]:
        """Ids of the rows that are good in the new model alone."""
        return [id for id, outcome in self.new.items() if outcome and self.base.get(id) is False]

    @property
    def lost(self) -> list[str]:
        """Ids of the rows of the new model without an outcome where the base has one."""
        return [id for id, outcome in self.new.items() if outcome is None and self.base.get(id) is not None]


def check_all(base: MeasuredModel, new: MeasuredModel, margins: Mapping[str, float]) -> list[Check]:
    """Check every metric of `margins`, by its name (see `parse_metric`), with the points that it may fall by.

    Raises:
        ConfigError: a metric that is not in both models, or without a row that has an outcome in both.
    """
    named = [(_metric(base, new, name), margin) for name, margin in margins.items()]
    checks = [_check(metric, margin, metric.outcomes(base.rows), metric.outcomes(new.rows)) for metric, margin in named]
    adjusted = holm([check.p for check in checks])
    at_worst = holm([_worst_case(check).fell_p(check.margin / 100) for check in checks])
    return [
        replace(check, p=p, result=_result(check, p, worst))
        for check, p, worst in zip(checks, adjusted, at_worst, strict=True)
    ]


def _metric(base: MeasuredModel, new: MeasuredModel, name: str) -> Metric:
    """The metric of that name, in the one setting of its task."""
    task, measure = parse_metric(name)
    settings = []
    for model in (base, new):
        if task not in model.tasks:
            known = ", ".join(sorted(model.tasks))
            raise ConfigError(f"{name}: {model.run.name} has no rows of {task}; it has {known}")
        settings.append({outcome.setting for outcome in model.rows.counts() if outcome.task == task} - {None})
    both = settings[0] | settings[1]
    if len(both) > 1:
        raise ConfigError(f"{name}: {task} was measured in several settings, {', '.join(sorted(map(str, both)))}")
    return Metric(task, measure, next(iter(both), None))


def _check(metric: Metric, margin: float, base: Mapping[str, bool | None], new: Mapping[str, bool | None]) -> Check:
    pairs = pair(base, new)
    if not pairs.n:
        raise ConfigError(
            f"{metric.key}: no row has an outcome in both runs ({len(base)} rows of the base, {len(new)} of the new "
            "one); measure both on the same rows"
        )
    return Check(metric, margin, base, new, pairs, pairs.fell_p(margin / 100), "not resolved")


def _result(check: Check, p: float | None, at_worst: float | None) -> Result:
    fell = check.pairs.fell_p(check.margin / 100)
    assert p is not None and fell is not None and at_worst is not None, "a check has pairs"
    if p < LEVEL:
        return "worse"
    if check.lost and at_worst < LEVEL:
        return "cannot tell"
    return "within" if fell > 1 - LEVEL else "not resolved"


def _worst_case(check: Check) -> Pairs:
    """The pairs, if every lost row counted as bad."""
    good = sum(check.base[id] is True for id in check.lost)
    pairs, bad = check.pairs, len(check.lost) - good
    return replace(pairs, only_first=pairs.only_first + good, neither=pairs.neither + bad)
