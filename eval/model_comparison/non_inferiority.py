"""Non-inferiority tests: whether a metric fell by more than a margin, on the rows with an outcome in both models.

With a margin of m points and d the rate of the new model minus that of the base, one-sided at a level of 5 %:

- *worse*: the test of "d >= -m" rejects, its p-value adjusted by Holm over all metrics of the gate. A model whose
  metrics all fell by at most m is called worse in any of them at most 5 % of the time. Conversely, a larger fall passes
  if there are too few rows to show it, so choose n with `python -m eval.plan --paired`.
- *within*: the test of "d <= -m" rejects: the new model is shown to be non-inferior.
- *not resolved*: neither test rejects. With m = 0, two equal models end here.
- *cannot tell*: so many rows lost their outcome in the new model (no user turn, no judgement or no grade, where the
  base has one) that it would be *worse* if they all counted as failures. Unknown rows are not failures, but they must
  not let a model pass the gate.

Both tests use the adjusted Wald statistic of Bonett and Price 2012, see `eval/stats/paired.py`. For a single metric,
*worse* means that the 90 % interval of d lies entirely below -m, *within* that it lies entirely above.
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
"""Confidence of the two-sided interval whose ends match one-sided tests at `LEVEL`."""


@dataclass(frozen=True)
class Check:
    """One metric of the gate."""

    metric: Metric
    margin: float
    """The allowed drop in points."""
    base: Mapping[str, bool | None]
    new: Mapping[str, bool | None]
    pairs: Pairs
    p: float | None
    """Adjusted p-value of a fall by at most the margin."""
    result: Result

    @property
    def rates(self) -> tuple[Rate, Rate]:
        """The rates of the base and of the new model, each over all of its rows."""
        return rate_of(self.base), rate_of(self.new)

    @property
    def turned_bad(self) -> list[str]:
        """Ids of the rows that are good in the base and bad in the new model, in the order of the latter's file."""
        return [id for id, outcome in self.new.items() if outcome is False and self.base.get(id)]

    @property
    def turned_good(self) -> list[str]:
        """Ids of the rows that are bad in the base and good in the new model."""
        return [id for id, outcome in self.new.items() if outcome and self.base.get(id) is False]

    @property
    def lost(self) -> list[str]:
        """Ids of the rows with an outcome in the base but not in the new model."""
        return [id for id, outcome in self.new.items() if outcome is None and self.base.get(id) is not None]


def check_all(base: MeasuredModel, new: MeasuredModel, margins: Mapping[str, float]) -> list[Check]:
    """Check every metric in `margins`: its name (see `parse_metric`) -> the allowed drop in points.

    Raises:
        ConfigError: a model lacks a metric, the new model lacks rows of the base, or no row has an outcome in both.
    """
    named = [(_metric(base, new, name), margin) for name, margin in margins.items()]
    for metric, _ in named:
        _refuse_missing_rows(base, new, metric.task)
    checks = [_check(metric, margin, metric.outcomes(base.rows), metric.outcomes(new.rows)) for metric, margin in named]
    adjusted = holm([check.p for check in checks])
    at_worst = holm([_worst_case(check).fell_p(check.margin / 100) for check in checks])
    return [
        replace(check, p=p, result=_result(check, p, worst))
        for check, p, worst in zip(checks, adjusted, at_worst, strict=True)
    ]


def _metric(base: MeasuredModel, new: MeasuredModel, name: str) -> Metric:
    """The metric with this name, in the only setting of its task."""
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


def _refuse_missing_rows(base: MeasuredModel, new: MeasuredModel, task: str) -> None:
    """Rows that were not measured must not let a model pass, so the new model needs every row of the base."""
    ids = [id for id, outcome in base.rows.items() if outcome.task == task]
    if missing := sum(id not in new.rows for id in ids):
        raise ConfigError(
            f"{task}: {new.run.name} lacks {missing} of the {len(ids)} rows that {base.run.name} has; measure both on "
            "the same rows"
        )


def _check(metric: Metric, margin: float, base: Mapping[str, bool | None], new: Mapping[str, bool | None]) -> Check:
    pairs = pair(base, new)
    if not pairs.n:
        raise ConfigError(
            f"{metric.key}: no row has an outcome in both runs ({len(base)} rows of the base, {len(new)} of the new "
            "model); measure both on the same rows"
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
    """The pairs if every lost row counted as bad."""
    good = sum(check.base[id] is True for id in check.lost)
    pairs, bad = check.pairs, len(check.lost) - good
    return replace(pairs, only_first=pairs.only_first + good, neither=pairs.neither + bad)
