"""Rates corrected for the judge's errors, for the columns next to the raw ones in Table 2, and those errors themselves.

Pure: a correction in, cells and a table out. The estimators: `eval/model_comparison/correction.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from eval.model_comparison.comparison import MeasuredFigure
from eval.model_comparison.correction import Correction, JudgeError
from eval.stats.corrected_rates import Estimate, Share
from eval.table import UNKNOWN, Cell, Table

CORRECTED = ("Rogan-Gladen %", "prediction-powered %")
NOT_CORRECTED = Cell(UNKNOWN)
ROGAN_GLADEN = (
    "Rogan-Gladen: the raw rate corrected by the judge's sensitivity and specificity on all labelled items, from any "
    "model. It is valid only if the judge errs on these rows as it does on those: labels of other models' turns may "
    "not transfer."
)
SAMPLED = (
    "prediction-powered (PPI++, power-tuned): from the labelled rows of the cell itself (n), which must be a random "
    "sample of its rows, or weighted; it assumes nothing about the judge."
)
INTERVALS = (
    "Both intervals (95 %) include the judge's error; points and ends outside 0 to 100 are clipped and marked as such. "
    "Labels are assumed to be correct."
)
COUNTED = "In brackets: 95 % interval, adjusted for items that share a context; n: items with that label."


def corrected_cells(correction: Correction, cell: MeasuredFigure) -> tuple[Cell, Cell]:
    """The two corrected rates of a metric; unknown for a metric without a judge."""
    found = correction.cells.get((cell.model.name, cell.metric.key))
    if found is None:
        return NOT_CORRECTED, NOT_CORRECTED
    powered = _estimate(found.prediction_powered, found.labelled)
    return _estimate(found.rogan_gladen, None), powered


def judges_table(correction: Correction) -> Table:
    """One row per judge with its sensitivity and specificity against the labels."""
    columns = ("judge", "labelled items", "undecided", "labelled genuine", "sensitivity %", "specificity %")
    rows = tuple(tuple(_judge(error)) for error in correction.errors)
    cautions = tuple(
        f"CAUTION: {error.judge} was fitted on the queries of {error.fitted_share:.0%} of the labelled items, so its "
        "error is larger than shown."
        for error in correction.errors
        if error.fitted_share
    )
    return Table("The judge against the labels", columns, rows, (COUNTED, ROGAN_GLADEN, SAMPLED, INTERVALS, *cautions))


def _judge(error: JudgeError) -> Iterator[Cell]:
    yes = sum(row.label for row in error.rows)
    yield from (Cell(error.judge), Cell.number(len(error.rows)), Cell.number(error.undecided), Cell.number(yes))
    yield _share(error.sensitivity, yes)
    yield _share(error.specificity, len(error.rows) - yes)


def _share(share: Share | None, n: int) -> Cell:
    return Cell.estimate(share.point if share else None, share.interval() if share else None, n)


def _estimate(estimate: Estimate, n: int | None) -> Cell:
    """A corrected rate, with its labelled rows `n` if they are rows of the cell; the reason if there is no estimate."""
    if estimate.point is None:
        return Cell(f"{UNKNOWN} ({estimate.why})")
    cell = Cell.estimate(estimate.point, estimate.interval, n or 0)
    text = cell.text if n else cell.text.removesuffix(" n=0")
    return replace(cell, n=n, text=f"{text} clipped" if estimate.clipped else text)
