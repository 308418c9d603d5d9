"""The agreement report as tables for a terminal."""

from __future__ import annotations

from typing import Any

from eval.stats.rates import Interval
from eval.table import UNKNOWN, Cell, Table
from eval.table_formats import to_terminal

COLUMNS = ("slice", "n", "unj.", "gold yes", "judge yes", "kappa", "agree", "label kappa", "label agree")
UNDEFINED = "undefined"
"""The kappa of raters who both give the same answer to every item."""
NOTES = (
    "In brackets: 95 % bootstrap interval over contexts; — if the variance of kappa is unknown.",
    "drawn: random keeps the share of yes, balanced is half yes, half no by the labels (eval/panel_slices.py).",
)


def show(report: dict[str, Any]) -> None:
    """Print the report of `eval.agreement`: headline, caution, slices, confusion."""
    print(f"judge {report['judge']}: n = {report['n']}, unjudged = {report['unjudged']}")
    if report["cross_validated"]:
        print("cross-validated: each item was judged by a fit without its query")
    elif report["fitted_share"]:
        print(
            f"CAUTION: this judge was FITTED on the queries of {report['fitted_share']:.0%} of these items, so the "
            "figures are too good; use --cv for figures on unseen queries"
        )
    print(to_terminal([_slices(report), _labels(report["labels"]), _confusion(report["confusion"])]))


def _slices(report: dict[str, Any]) -> Table:
    slices = [
        (f"{name}: {value}", figures) for name, values in report["slices"].items() for value, figures in values.items()
    ]
    rows = tuple(_row(name, figures) for name, figures in [("all", report), *slices])
    return Table("Agreement with the labels", COLUMNS, rows, NOTES)


def _row(name: str, figures: dict[str, Any]) -> tuple[Cell, ...]:
    binary, label = figures["binary"], figures["label"]
    prevalence = binary.get("prevalence", {"gold": None, "judge": None})
    counts = (figures["n"], figures["unjudged"])
    return (
        Cell(name),
        *map(Cell.number, counts),
        *(Cell.number(prevalence[rater], digits=3) for rater in ("gold", "judge")),
        *(cell for rates in (binary, label) for cell in (_kappa(rates), Cell.number(rates["agreement"], digits=3))),
    )


def _kappa(rates: dict[str, Any]) -> Cell:
    """Kappa with its interval; "undefined" if there are ratings but no kappa."""
    ends = rates.get("kappa_interval")
    return kappa_cell(rates["kappa"], Interval(*ends) if ends else None, rated=rates["agreement"] is not None)


def kappa_cell(kappa: float | None, interval: Interval | None, *, rated: bool) -> Cell:
    """Kappa with its interval, "0.48 [0.40, 0.55]"; None is "undefined" for `rated` items and unknown otherwise."""
    if kappa is None:
        return Cell(UNDEFINED) if rated else Cell.number(None)
    if interval is None:
        return Cell(f"{kappa:.3f} [{UNKNOWN}]", round(kappa, 4))
    return Cell(
        f"{kappa:.3f} [{interval.low:.2f}, {interval.high:.2f}]",
        round(kappa, 4),
        round(interval.low, 4),
        round(interval.high, 4),
    )


def _labels(labels: dict[str, dict[str, Any]]) -> Table:
    """Precision and recall of each label."""
    rows = tuple(
        (
            Cell(_words(label)),
            *(Cell.number(figures[rater]) for rater in ("gold", "judge")),
            *(Cell.number(figures[share], digits=3) for share in ("precision", "recall")),
        )
        for label, figures in labels.items()
    )
    return Table("Labels one by one", ("label", "gold", "judge", "precision", "recall"), rows)


def _confusion(confusion: dict[str, dict[str, int]]) -> Table:
    given = list(dict.fromkeys([*confusion, *(label for row in confusion.values() for label in row)]))
    columns = ("labelled", *map(_words, given))
    rows = tuple(
        (Cell(_words(gold)), *(Cell.number(row[label]) if label in row else Cell("·") for label in given))
        for gold, row in confusion.items()
    )
    return Table("Labels: rows as labelled, columns as judged", columns, rows)


def _words(label: str) -> str:
    """A label with spaces, so that it can be wrapped."""
    return label.replace("_", " ")
