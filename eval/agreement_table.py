"""The agreement report as tables for a terminal."""

from __future__ import annotations

from typing import Any

from eval.table import Cell, Table, to_terminal

COLUMNS = ("slice", "n", "unj.", "gold yes", "judge yes", "kappa", "agree", "label kappa", "label agree")


def show(report: dict[str, Any]) -> None:
    """Print the report of `eval.agreement`: headline, caution, slices, confusion."""
    print(f"judge {report['judge']}: n = {report['n']}, unjudged = {report['unjudged']}")
    if report["cross_validated"]:
        print("cross-validated: each item was judged by a fit that had not seen its query")
    elif report["fitted_share"]:
        print(
            f"CAUTION: {report['fitted_share']:.0%} of these items are on queries that this judge was FITTED on, so "
            "the figures flatter it; use --cv for figures on unseen queries"
        )
    print(to_terminal([_slices(report), _confusion(report["confusion"])]))


def _slices(report: dict[str, Any]) -> Table:
    slices = [
        (f"{name}: {value}", figures) for name, values in report["slices"].items() for value, figures in values.items()
    ]
    rows = tuple(_row(name, figures) for name, figures in [("all", report), *slices])
    return Table("Agreement with the labels", COLUMNS, rows)


def _row(name: str, figures: dict[str, Any]) -> tuple[Cell, ...]:
    binary, label = figures["binary"], figures["label"]
    prevalence = binary.get("prevalence", {"gold": None, "judge": None})
    shares = [prevalence["gold"], prevalence["judge"], *(r[k] for r in (binary, label) for k in ("kappa", "agreement"))]
    counts = (Cell.number(figures["n"]), Cell.number(figures["unjudged"]))
    return (Cell(name), *counts, *(Cell.number(share, digits=3) for share in shares))


def _confusion(confusion: dict[str, dict[str, int]]) -> Table:
    given = list(dict.fromkeys([*confusion, *(label for row in confusion.values() for label in row)]))
    columns = ("labelled", *map(_words, given))
    rows = tuple(
        (Cell(_words(gold)), *(Cell.number(row[label]) if label in row else Cell("·") for label in given))
        for gold, row in confusion.items()
    )
    return Table("Labels: rows as labelled, columns as judged", columns, rows)


def _words(label: str) -> str:
    """A label that may be wrapped between its words."""
    return label.replace("_", " ")
