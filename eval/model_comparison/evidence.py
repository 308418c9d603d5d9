"""The evidence page of a cell: its rows with their outcomes, and links to the row file and manifest.

It contains only ids, lines, labels and outcomes, never the text of a dialogue, which may be gated.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from eval.model_comparison.comparison import Comparison, MeasuredFigure
from eval.model_comparison.measured_model import MeasuredModel, file_name
from eval.table import UNKNOWN, Cell, Table

FOLDER = "cells"
"""Folder of the pages, next to the table."""
OUTCOMES = {True: "yes", False: "no", None: UNKNOWN}


def page_of(comparison: Comparison, cell: MeasuredFigure) -> str:
    """The file of a cell's page, relative to the folder of the table."""
    number = next(place for place, model in enumerate(comparison.compared) if model is cell.model)
    return f"{FOLDER}/{number}-{file_name(cell.model.name)}.{file_name(cell.metric.key)}.md"


def page(comparison: Comparison, cell: MeasuredFigure, folder: Path) -> list[Table]:
    """The tables of a cell's page; links are relative to `folder`, which will hold the page."""
    models = [cell.model] if cell.base is None else [cell.model, comparison.base]
    name = f"{cell.model.name}, {cell.metric.heading.removesuffix(' %')}"
    return [
        Table(f"{name}: files", ("model", "rows", "manifest"), tuple(_files(models, cell, folder))),
        Table(f"{name}: rows", _columns(comparison, cell), tuple(_rows(comparison.base, cell))),
    ]


def rows_file(cell: MeasuredFigure) -> Path:
    """The file with the rows of a cell."""
    return next(cell.model.places[id].path for id in cell.outcomes)


def relative_url(target: Path, folder: Path) -> str:
    """The URL of `target` relative to `folder`."""
    return quote(os.fsencode(os.path.relpath(target.resolve(), folder.resolve())))


def _files(models: list[MeasuredModel], cell: MeasuredFigure, folder: Path) -> Iterator[tuple[Cell, ...]]:
    for model in models:
        for path in dict.fromkeys(model.places[id].path for id in cell.outcomes if id in model.places):
            rows = Cell(str(path.name), link=relative_url(path, folder))
            manifest = path.with_name("manifest.json")
            yield Cell(model.name), rows, Cell(manifest.name, link=relative_url(manifest, folder))


def _columns(comparison: Comparison, cell: MeasuredFigure) -> tuple[str, ...]:
    own = ("row", "line", "state", "label", cell.metric.measure)
    return own if cell.base is None else (*own, f"{comparison.base.name}: line", f"{comparison.base.name}: outcome")


def _rows(base: MeasuredModel, cell: MeasuredFigure) -> Iterator[tuple[Cell, ...]]:
    """One row per row of the cell, in the order of the model's file."""
    for id in cell.outcomes:
        row = cell.model.rows[id]
        shown = [Cell(id), Cell.number(cell.model.places[id].line), Cell(row.state), Cell(row.label or UNKNOWN)]
        shown.append(Cell(OUTCOMES[cell.outcomes[id]]))
        if cell.base is not None:
            known = id in cell.base
            shown.append(Cell.number(base.places[id].line) if known else Cell(UNKNOWN))
            shown.append(Cell(OUTCOMES[cell.base.get(id)]))
        yield tuple(shown)
