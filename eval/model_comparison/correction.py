"""Corrected rates of a table's cells, and the error of its judges, from labelled user turns.

Items that are rows of a cell give its prediction-powered estimate, if they are a random sample of its rows. All items,
from any model, give the judge's sensitivity and specificity, and with these the Rogan-Gladen estimate, if the judge
errs on the cell's rows as it does on the items. The estimators: `eval/stats/corrected_rates.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from eval.config import ConfigError
from eval.gold import GoldItem
from eval.model_comparison.comparison import Comparison, MeasuredFigure
from eval.model_comparison.labelled_sample import Decisions, LabelledSample, content_of, decide, read_items
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
    """The errors of one judge against the labels."""

    judge: str
    rows: tuple[LabelledRow, ...]
    undecided: int
    """Items without its decision; they count in no figure."""
    fitted_share: float
    """The share of all items whose query it was fitted on."""

    @property
    def sensitivity(self) -> Share | None:
        """The share of the items labelled genuine that it also calls genuine."""
        return sensitivity(self.rows)

    @property
    def specificity(self) -> Share | None:
        """The share of the items labelled not genuine that it also calls not genuine."""
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
    """The corrected rates of a comparison."""

    sample: LabelledSample
    errors: tuple[JudgeError, ...]
    cells: Mapping[tuple[str, str], CorrectedCell]
    """By the name of the model and the key of the metric; only metrics that a judge decides."""


Contents = Mapping[MeasuredModel, Mapping[str, str]]
"""Row id -> content hash, for every judged row that is labelled."""


def correct(comparison: Comparison, labels: Path, decisions: Decisions | None = None) -> Correction:
    """Correct every genuine rate of a comparison, except those of the cross condition.

    Args:
        labels: gold file.
        decisions: those of an earlier call; None looks them up or asks the judges.

    Raises:
        ConfigError: the labels can't be read, or a judge's decision is known for none of them or missing in
            `decisions`.
    """
    items = read_items(labels)
    contents = {model: _contents(model, items) for model in comparison.models}
    judges = sorted({_judge_of(model) for model in comparison.models})
    in_rows = {judge: _decisions_in_rows(contents, judge) for judge in judges}
    if decisions is None:
        decisions = decide(items, judges, {judge: set(known) for judge, known in in_rows.items()})
    if missing := set(judges) - set(decisions):
        raise ConfigError(f"the stored decisions lack {', '.join(sorted(missing))}; make the table again")
    sample = LabelledSample(items, decisions)
    errors = {judge: _error(sample, judge, in_rows[judge]) for judge in judges}
    cells = {
        (cell.model.name, cell.metric.key): _correct_cell(
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


def _decisions_in_rows(contents: Contents, judge: str) -> dict[str, bool]:
    """The judge's decisions on the labelled rows of its runs, by content."""
    found: dict[str, bool] = {}
    for model, known in contents.items():
        if _judge_of(model) == judge:
            found |= {content: bool(model.rows[id].genuine) for id, content in known.items()}
    return found


def _error(sample: LabelledSample, judge: str, in_rows: Mapping[str, bool]) -> JudgeError:
    decided = sample.decisions[judge]
    genuine = {**decided.said, **in_rows}
    rows = tuple(
        LabelledRow(yes, item.genuine, item.context, item.weight)
        for content, item in sample.items.items()
        if (yes := genuine.get(content)) is not None
    )
    return JudgeError(judge, rows, len(sample.items) - len(rows), decided.fitted_share)


def _correct_cell(
    cell: MeasuredFigure, sample: LabelledSample, contents: Mapping[str, str], error: JudgeError
) -> CorrectedCell:
    found = {id: sample.items[content] for id, content in contents.items() if id in cell.outcomes}
    rows = [LabelledRow(bool(cell.outcomes[id]), item.genuine, item.context, item.weight) for id, item in found.items()]
    rate = cell.evidence.rate
    return CorrectedCell(
        rogan_gladen(rate, error.sensitivity, error.specificity), prediction_powered(rows, rate), len(rows)
    )
