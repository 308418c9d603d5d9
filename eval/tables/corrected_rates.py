"""Rates without the judge's errors: the columns beside the raw ones in Table 2, and the judges' error itself.

A correction in, cells and a table out; pure. How it is estimated: `eval/model_comparison/correction.py`.
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
TWO_INPUTS = (
    "Rogan-Gladen: the raw rate corrected by the judge's sensitivity and specificity on all labelled items, whoever "
    "spoke them. It is right only if the judge errs on these rows as it does on those: labels of other models' turns "
    "may not transfer."
)
DRAWN = (
    "prediction-powered (PPI++, power-tuned): from the labelled rows of the very cell (n), which must be a random draw "
    "of its rows, or weighted; it needs nothing of the judge."
)
INTERVALS = (
    "Both intervals (95 %) include the judge's error; points and ends outside 0 to 100 are put on the border and "
    "marked clipped. Labels are taken for the truth."
)
COUNTED = "In brackets: 95 % interval, items of one context counted for fewer; n: items with that label."


def corrected_cells(correction: Correction, cell: MeasuredFigure) -> tuple[Cell, Cell]:
    """The two corrected rates of a metric; of one that no judge decides, nothing."""
    found = correction.cells.get((cell.model.name, cell.metric.key))
    if found is None:
        return NOT_CORRECTED, NOT_CORRECTED
    powered = _estimate(found.prediction_powered, found.labelled)
    return _estimate(found.rogan_gladen, None), powered


def judges_table(correction: Correction) -> Table:
    """A row a judge: how often it finds what is labelled genuine, and lets pass what is not."""
    columns = ("judge", "labelled items", "undecided", "labelled genuine", "sensitivity %", "specificity %")
    rows = tuple(tuple(_judge(error)) for error in correction.errors)
    cautions = tuple(
        f"CAUTION: {error.fitted_share:.0%} of the labelled items are on queries that {error.judge} was fitted on, so "
        "its error is larger than shown."
        for error in correction.errors
        if error.fitted_share
    )
    return Table("The judge against the labels", columns, rows, (COUNTED, TWO_INPUTS, DRAWN, INTERVALS, *cautions))


def _judge(error: JudgeError) -> Iterator[Cell]:
    yes = sum(row.label for row in error.rows)
    yield from (Cell(error.judge), Cell.number(len(error.rows)), Cell.number(error.undecided), Cell.number(yes))
    yield _share(error.sensitivity, yes)
    yield _share(error.specificity, len(error.rows) - yes)


def _share(share: Share | None, n: int) -> Cell:
    return Cell.estimate(share.point if share else None, share.interval() if share else None, n)


def _estimate(estimate: Estimate, n: int | None) -> Cell:
    """A corrected rate, with the number of labelled rows where they are its own; the reason where there is none."""
    if estimate.point is None:
        return Cell(f"{UNKNOWN} ({estimate.why})")
    cell = Cell.estimate(estimate.point, estimate.interval, n or 0)
    text = cell.text if n else cell.text.removesuffix(" n=0")
    return replace(cell, n=n, text=f"{text} clipped" if estimate.clipped else text)
