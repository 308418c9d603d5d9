"""Corrected rates of a table's cells, and the error of its judges, from labelled user turns.

Two different inputs: items that are rows of a cell give its prediction-powered estimate, if they are a random draw of
them; all items, whoever spoke them, give the judge's sensitivity and specificity, and by these Rogan and Gladen's
estimate, if the judge errs on the cell's rows as it does on them. How both are made: `eval/stats/corrected_rates.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from eval.config import ConfigError
from eval.gold import GoldItem
from eval.model_comparison.comparison import Comparison, MeasuredFigure
from eval.model_comparison.labelled_sample import Decisions, LabelledSample, content_of, decided, read_items
from eval.model_comparison.measured_model import MeasuredModel
from eval.stats.corrected_rates import (
    Estimate,
    LabelledRow,
    Share,
    prediction_powered,
    rogan_gladen,
    sensitivity,
    specificity,
)


@dataclass(frozen=True)
class JudgeError:
    """How one judge stands to the labels."""

    judge: str
    rows: tuple[LabelledRow, ...]
    undecided: int
    """Items on which it has no decision; they are in no metric."""
    fitted_share: float
    """The share of all items on queries that it was fitted on."""

    @property
    def sensitivity(self) -> Share | None:
        """Of the items labelled genuine, the share that it calls so."""
        return sensitivity(self.rows)

    @property
    def specificity(self) -> Share | None:
        """Of the items labelled not genuine, the share that it calls so."""
        return specificity(self.rows)


@dataclass(frozen=True)
class CorrectedCell:
    """The corrected rates of one cell."""

    rogan_gladen: Estimate
    prediction_powered: Estimate
    labelled: int
    """Rows of the cell with a label and a judgement."""


@dataclass(frozen=True)
class Correction:
    """What labels say of a comparison."""

    sample: LabelledSample
    errors: tuple[JudgeError, ...]
    cells: Mapping[tuple[str, str], CorrectedCell]
    """By the name of the model and the key of the metric; metrics that no judge decides are not here."""


Contents = Mapping[MeasuredModel, Mapping[str, str]]
"""The content of each judged row that is labelled, by its id."""


def correct(comparison: Comparison, labels: Path, decisions: Decisions | None = None) -> Correction:
    """Correct every genuine rate of a comparison, but for those of the cross condition.

    Args:
        labels: gold file.
        decisions: those of an earlier call; None: they are looked up and made.

    Raises:
        ConfigError: the labels can't be read, nothing tells what a judge says of any of them, or `decisions` lacks one.
    """
    items = read_items(labels)
    contents = {model: _contents(model, items) for model in comparison.models}
    judges = sorted({_judge_of(model) for model in comparison.models})
    seen = {judge: _seen(contents, judge) for judge in judges}
    if decisions is None:
        decisions = decided(items, judges, {judge: set(found) for judge, found in seen.items()})
    if missing := set(judges) - set(decisions):
        raise ConfigError(f"the decisions on the labels lack {', '.join(sorted(missing))}; make the table again")
    sample = LabelledSample(items, decisions)
    errors = {judge: _error(sample, judge, seen[judge]) for judge in judges}
    cells = {
        (cell.model.name, cell.metric.key): _corrected(
            cell, sample, contents[cell.model], errors[_judge_of(cell.model)]
        )
        for cell in comparison.cells
        if cell.metric.measure == "genuine"
    }
    return Correction(sample, tuple(errors.values()), cells)


def _judge_of(model: MeasuredModel) -> str:
    return str(model.run.protocol["judge"])


def _contents(model: MeasuredModel, items: Mapping[str, GoldItem]) -> dict[str, str]:
    judged = (row for row in model.run.rows() if model.rows[row.id].genuine is not None)
    return {row.id: content for row in judged if (content := content_of(row.messages)) in items}


def _seen(contents: Contents, judge: str) -> dict[str, bool]:
    """The decisions of a judge on the labelled rows of its runs, by content."""
    found: dict[str, bool] = {}
    for model, known in contents.items():
        if _judge_of(model) == judge:
            found |= {content: bool(model.rows[id].genuine) for id, content in known.items()}
    return found


def _error(sample: LabelledSample, judge: str, seen: Mapping[str, bool]) -> JudgeError:
    decided = sample.decisions[judge]
    said = {**decided.said, **seen}
    rows = tuple(
        LabelledRow(yes, item.genuine, item.context, item.weight)
        for content, item in sample.items.items()
        if (yes := said.get(content)) is not None
    )
    return JudgeError(judge, rows, len(sample.items) - len(rows), decided.fitted_share)


def _corrected(
    cell: MeasuredFigure, sample: LabelledSample, contents: Mapping[str, str], error: JudgeError
) -> CorrectedCell:
    found = {id: sample.items[content] for id, content in contents.items() if id in cell.outcomes}
    rows = [LabelledRow(bool(cell.outcomes[id]), item.genuine, item.context, item.weight) for id, item in found.items()]
    rate = cell.evidence.rate
    return CorrectedCell(
        rogan_gladen(rate, error.sensitivity, error.specificity), prediction_powered(rows, rate), len(rows)
    )
