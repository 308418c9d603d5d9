"""Compares models on every metric of Table 2, with evidence and verdict, and in the cross condition.

Runs in, numbers out; `eval/tables/table2_models.py` prints them. The first model is Base; every other is paired with it
row by row. Nothing is pooled over models, tasks or settings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from eval.config import ConfigError
from eval.finished_runs import Run
from eval.model_comparison.claims import BASE, claim_of, why_no_claims
from eval.model_comparison.measured_model import (
    MeasuredModel,
    answers_of_another,
    names_of,
    read_model,
    refuse_equal_names,
)
from eval.model_comparison.metric import Metric, MetricOutcomes, metrics_of, rate_of
from eval.model_comparison.same_protocol import OF_A_CROSS_RUN, OF_THE_MODEL, differences, refuse_other_protocol
from eval.model_comparison.verdict import Claim, Evidence, Finding, find
from eval.stats.paired import holm, pair
from eval.stats.rates import Rate, same_rate_p

FORCE = "measure it again under the same protocol, or include it marked with --force"


@dataclass(frozen=True)
class MeasuredFigure:
    """One cell: a metric of one model, or of its cross run."""

    model: MeasuredModel
    metric: Metric
    outcomes: MetricOutcomes
    base: MetricOutcomes | None
    """The outcomes of Base on the same metric; None for Base itself."""
    specific: Rate | None
    """The specific rate of a genuine metric; None for other metrics."""
    evidence: Evidence
    claim: Claim | None
    finding: Finding


@dataclass(frozen=True)
class Comparison:
    """All cells, model by model, each in the order of `metrics`."""

    models: tuple[MeasuredModel, ...]
    metrics: tuple[Metric, ...]
    cells: tuple[MeasuredFigure, ...]
    cross: tuple[MeasuredFigure, ...]
    """User turns of each model on Base's answers, each compared with Base's own turns on them."""
    marks: Mapping[str, tuple[str, ...]]
    """Model or cross run -> settings that differ from Base's and should not; non-empty only with `force`."""
    without_claims: str
    """Why the paper's values do not apply; empty if they do."""

    @property
    def base(self) -> MeasuredModel:
        """The model that all others are compared with."""
        return self.models[0]

    @property
    def compared(self) -> tuple[MeasuredModel, ...]:
        """The models, followed by those of the cross condition."""
        return (*self.models, *dict.fromkeys(cell.model for cell in self.cross))


def compare_models(runs: Sequence[Run], cross: Sequence[Run] = (), force: bool = False) -> Comparison:
    """Compare each run's model with the first one; a run on another model's answers is treated as a cross run.

    Args:
        force: keep runs of another protocol, and mark them.

    Raises:
        ConfigError: a run is perturbed or of another protocol, or has no task of Table 2, or Base is not the first.
    """
    perturbed = [run.name for run in (*runs, *cross) if run.perturbed]
    if perturbed:
        raise ConfigError(f"{perturbed[0]} has perturbed answers, and Table 2 needs unperturbed ones; leave it out")
    own = [run for run in runs if not answers_of_another(run)]
    if not own or own[0] is not runs[0]:
        raise ConfigError("the first run must be Base on its own answers; give it before the others")
    _refuse_base_after_another(own)
    on_base = [*(run for run in runs if run not in own), *cross]
    models = [read_model(run, name) for run, name in zip(own, names_of(own), strict=True)]
    crossed = [read_model(run, _cross_name(run, models)) for run in on_base]
    refuse_equal_names([model.name for model in crossed])
    marks = {other.name: _check_protocol(models[0], other, force) for other in models[1:]}
    marks |= {other.name: _check_cross_protocol(models[0], other, force) for other in crossed}
    metrics = metrics_of(task for model in models for task in model.tasks)
    without = why_no_claims(models[0].run)
    return Comparison(
        models=tuple(models),
        metrics=metrics,
        cells=_cells(models[0], [(model, metric) for model in models for metric in metrics], not without),
        cross=_cells(models[0], [(model, metric) for model in crossed for metric in _cross_metrics(model)], False),
        marks={name: tuple(found) for name, found in marks.items() if found},
        without_claims=without,
    )


def _refuse_base_after_another(runs: Sequence[Run]) -> None:
    first, *others = (run.given_name or run.model for run in runs)
    if first.casefold() != BASE.casefold():
        for run, name in zip(runs[1:], others, strict=True):
            if name.casefold() == BASE.casefold():
                raise ConfigError(
                    f"{run.name} is named {name} and comes after {first} ({runs[0].name}); the first run is what the "
                    f"others are compared with: put {name} first"
                )


def _cross_name(run: Run, models: Sequence[MeasuredModel]) -> str:
    """A cross run is named after the row of its model."""
    own = next((model.name for model in models if model.run.protocol["model"] == run.protocol["model"]), None)
    return f"{own or run.given_name or run.model} on the answers of {models[0].name}"


def _check_protocol(first: MeasuredModel, other: MeasuredModel, force: bool) -> list[str]:
    """The settings in which `other` differs; a `ConfigError` if there are any without `force`."""
    found = differences(first.run, other.run, OF_THE_MODEL)
    if not force:
        refuse_other_protocol(first, other, found, FORCE)
    return found


def _check_cross_protocol(first: MeasuredModel, other: MeasuredModel, force: bool) -> list[str]:
    answered_by = other.run.protocol["answers_from"] or other.run.protocol["model"]
    if answered_by != first.run.protocol["model"]:
        wanted = f"{first.name} ({first.run.protocol['model']})"
        raise ConfigError(f"{other.run.name} has the answers of {answered_by}, not of {wanted}; leave it out")
    found = differences(first.run, other.run, OF_A_CROSS_RUN)
    if not force:
        refuse_other_protocol(first, other, found, FORCE)
    return found


def _cross_metrics(model: MeasuredModel) -> list[Metric]:
    """The genuine rate on another model's answers, for every task that has such rows."""
    tasks = sorted({outcome.task for outcome in model.rows.counts() if outcome.setting == "cross"})
    return [Metric(task, "genuine", "cross") for task in tasks]


def _cells(
    base: MeasuredModel, wanted: Sequence[tuple[MeasuredModel, Metric]], with_claims: bool
) -> tuple[MeasuredFigure, ...]:
    """The cells of one table; their p-values are adjusted together."""
    outcomes = [metric.outcomes(model.rows) for model, metric in wanted]
    rates = [rate_of(of_cell) for of_cell in outcomes]
    bases = [None if model is base else _base_outcomes(base, metric) for model, metric in wanted]
    pairs = [None if before is None else pair(before, after) for before, after in zip(bases, outcomes, strict=True)]
    claims = [
        claim_of(None if model is base else model.name, metric) if with_claims else None for model, metric in wanted
    ]
    p_base = holm([of_cell.p_value if of_cell else None for of_cell in pairs])
    p_paper = holm(
        [same_rate_p(rate, claim.rate) if claim else None for rate, claim in zip(rates, claims, strict=True)]
    )
    cells = []
    for place, (model, metric) in enumerate(wanted):
        evidence = Evidence(rates[place], len(outcomes[place]), pairs[place], p_base[place], p_paper[place])
        finding = find(evidence, claims[place])
        specific = _specific_rate(model, metric)
        cells.append(
            MeasuredFigure(model, metric, outcomes[place], bases[place], specific, evidence, claims[place], finding)
        )
    return tuple(cells)


def _base_outcomes(base: MeasuredModel, metric: Metric) -> MetricOutcomes:
    """Base's outcomes; another model's turns on Base's answers are compared with Base's turns on its own answers."""
    setting = "self-generated" if metric.setting == "cross" else metric.setting
    return Metric(metric.task, metric.measure, setting).outcomes(base.rows)


def _specific_rate(model: MeasuredModel, metric: Metric) -> Rate | None:
    if metric.measure != "genuine":
        return None
    return rate_of(Metric(metric.task, "specific", metric.setting).outcomes(model.rows))
