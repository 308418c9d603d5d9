"""Table 2 on the page: the models of several runs side by side, if their runs are comparable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from eval.config import ConfigError
from eval.finished_runs import Run
from eval.model_comparison.comparison import Comparison, compare_models
from eval.model_comparison.evidence import relative_url, rows_file
from eval.report_page.tables import ShownTable, laid_out
from eval.table import Table, each_note_once
from eval.tables.table2_models import build

NEEDS = "unperturbed runs of two models or more under one protocol, Base first"
DRAWN_BY_THE_PAGE = "Labels"
"""Title prefix of the tables that the page draws itself."""


@dataclass(frozen=True)
class SideBySide:
    """The tables; if there are none, `lacks` says why in one line."""

    tables: tuple[ShownTable, ...] = ()
    lacks: str = ""


def side_by_side(runs: Sequence[Run], folder: Path) -> SideBySide:
    """Compare the models of the runs; links to rows and manifests are relative to `folder`, the page's folder."""
    if len({run.protocol["model"] for run in runs}) < 2:
        return SideBySide(lacks=NEEDS)
    try:
        comparison = compare_models(runs)
    except ConfigError as error:
        return SideBySide(lacks=f"{NEEDS}; {str(error).splitlines()[0].rstrip(':')}")
    tables = build(comparison, lambda cell: relative_url(rows_file(cell), folder))
    overview = _with_manifests(tables[0], comparison, folder)
    kept = [overview, *(table for table in tables[1:] if not table.title.startswith(DRAWN_BY_THE_PAGE))]
    return SideBySide(tuple(laid_out(table) for table in each_note_once(kept)))


def _with_manifests(table: Table, comparison: Comparison, folder: Path) -> Table:
    """The table with one row per model; the name of each links to its manifest."""
    manifests = [relative_url(model.run.paths[0] / "manifest.json", folder) for model in comparison.models]
    rows = zip(table.rows, manifests, strict=True)
    return replace(table, rows=tuple((replace(name, link=link), *cells) for (name, *cells), link in rows))
