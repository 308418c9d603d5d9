"""The agreement report as tables for a terminal."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table

HEADINGS = ("slice", "n", "unj.", "gold yes", "judge yes", "kappa", "agree", "label kappa", "label agree")


def show(report: dict[str, Any]) -> None:
    """Print the report of `eval.agreement`: headline, caution, slices, confusion."""
    console = Console()
    console.print(f"judge {report['judge']}: n = {report['n']}, unjudged = {report['unjudged']}", highlight=False)
    if report["cross_validated"]:
        console.print("cross-validated: each item was judged by a fit that had not seen its query", highlight=False)
    elif report["fitted_share"]:
        share = f"{report['fitted_share']:.0%}"
        console.print(
            f"[bold red]caution:[/] {share} of these items are on queries that this judge was FITTED on, so the "
            "figures flatter it; use --cv for figures on unseen queries",
            highlight=False,
        )
    console.print(_slices(report))
    console.print(_confusion(report["confusion"]))


def _slices(report: dict[str, Any]) -> Table:
    table = Table(title="Agreement with the labels")
    for heading in HEADINGS:
        table.add_column(heading, justify="left" if heading == "slice" else "right", no_wrap=heading == "slice")
    table.add_row(*_row("all", report))
    for name, values in report["slices"].items():
        table.add_section()
        for value, figures in values.items():
            table.add_row(*_row(f"{name}: {value}", figures))
    return table


def _row(name: str, figures: dict[str, Any]) -> list[str]:
    binary, label = figures["binary"], figures["label"]
    prevalence = binary.get("prevalence", {"gold": None, "judge": None})
    cells = [prevalence["gold"], prevalence["judge"], *(r[k] for r in (binary, label) for k in ("kappa", "agreement"))]
    return [name, str(figures["n"]), str(figures["unjudged"]), *("-" if c is None else f"{c:.3f}" for c in cells)]


def _confusion(confusion: dict[str, dict[str, int]]) -> Table:
    table = Table(title="Labels: rows as labelled, columns as judged")
    columns = list(dict.fromkeys([*confusion, *(given for row in confusion.values() for given in row)]))
    table.add_column("labelled")
    for given in columns:
        table.add_column("\n".join(given.split("_")), justify="right")
    for gold, row in confusion.items():
        table.add_row(gold, *(str(row.get(given, "·")) for given in columns))
    return table
