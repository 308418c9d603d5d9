"""The result of a gate: one row per metric with its allowed drop, its measured difference and the result.

Pure: checks in, table out. The results are defined in `eval/model_comparison/non_inferiority.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from eval.model_comparison.measured_model import MeasuredModel
from eval.model_comparison.non_inferiority import CONFIDENCE, Check
from eval.table import Cell, Table

NOTES = (
    "difference: new minus base in points on the rows with an outcome in both (n), with its 90 % interval, whose ends "
    "match one-sided tests at 5 %. p: of a fall by at most the allowed drop, adjusted over this table.",
    "worse: p below 0.05. within: the interval lies above the allowed drop. not resolved: neither. cannot tell: it "
    "would be worse if the rows that lost their outcome counted as failures.",
)


def build(base: MeasuredModel, new: MeasuredModel, checks: Sequence[Check]) -> Table:
    """One row per metric."""
    rates = (f"{base.name} %", f"{new.name} %")
    counts = ("turned bad", "turned good", "lost")
    columns = ("metric", *rates, "allowed drop", "difference", "p (Holm)", *counts, "result")
    return Table(f"Gate: {new.name} against {base.name}", columns, tuple(map(_row, checks)), NOTES)


def _row(check: Check) -> tuple[Cell, ...]:
    rates = (Cell.rate(rate, with_n=True) for rate in check.rates)
    pairs = check.pairs
    turned = (check.turned_bad, check.turned_good, check.lost)
    return (
        Cell(check.metric.heading.removesuffix(" %")),
        *rates,
        Cell(f"{check.margin:g}", value=check.margin),
        Cell.estimate(pairs.difference, pairs.interval(CONFIDENCE), pairs.n),
        Cell.p_value(check.p),
        *(Cell.number(len(ids)) for ids in turned),
        Cell(check.result),
    )
