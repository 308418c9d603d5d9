"""Recomputes a written table from its rows, and lists each cell that differs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from eval.config import ConfigError
from eval.model_comparison.writing import NAME, read_decisions, read_sources, render, rows_digest

JSON = f"{NAME}.json"


@dataclass(frozen=True)
class Recomputed:
    """The size of the recomputed table, and a line for each difference from the written one."""

    cells: int
    files: int
    rows: int
    differences: tuple[str, ...]


def recompute(folder: Path) -> Recomputed:
    """Recompute the table in `folder` from its source runs, and compare all of its files.

    Raises:
        ConfigError: there is no table, its labels are missing, or a run is missing, unfinished or of another protocol.
    """
    sources, digests = read_sources(folder)
    comparison = sources.compare()
    correction = sources.correct(comparison, read_decisions(folder)) if sources.labels else None
    files = render(comparison, folder, correction)
    found = [
        f"{source}: its rows have changed since the table was made"
        for source, digest in digests.items()
        if rows_digest(folder / source) != digest
    ]
    made = json.loads(files[JSON])
    for name, text in files.items():
        found += _differences(folder / name, name, text)
    return Recomputed(
        cells=sum(len(row) - 1 for table in made for row in table["rows"]),
        files=len(files),
        rows=sum(len(model.rows) for model in comparison.compared),
        differences=tuple(found),
    )


def _differences(path: Path, name: str, made: str) -> Iterator[str]:
    """The differences between a written file and its expected content."""
    if not path.is_file():
        yield f"{name}: missing"
        return
    written = path.read_text(encoding="utf-8")
    if written == made:
        return
    cells = list(_differing_cells(path, written, made)) if name == JSON else []
    yield from cells or _differing_lines(name, written, made)


def _differing_cells(path: Path, written: str, made: str) -> Iterator[str]:
    """A line per differing cell, named by table, row and column."""
    try:
        before, after = (dict(_cells(json.loads(text))) for text in (written, made))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigError(f"{path} was not written by `eval.table2` ({type(error).__name__}: {error})") from error
    for key in dict.fromkeys([*before, *after]):
        was, now = before.get(key), after.get(key)
        if was != now:
            yield f"{JSON}: {' / '.join(key)}: written {_describe(was, now)}, recomputed {_describe(now, was)}"


def _cells(tables: list[dict[str, Any]]) -> Iterator[tuple[tuple[str, str, str], dict[str, Any]]]:
    for table in tables:
        for row in table["rows"]:
            for column, cell in zip(table["columns"], row, strict=True):
                yield (table["title"], row[0]["text"], column), cell


def _describe(cell: dict[str, Any] | None, other: dict[str, Any] | None) -> str:
    """The text of a cell or, if both have the same text, the fields that differ."""
    if cell is None:
        return "nothing"
    if other is None or cell.get("text") != other.get("text"):
        return repr(cell.get("text"))
    return ", ".join(f"{key} {value}" for key, value in cell.items() if value != other.get(key))


def _differing_lines(name: str, written: str, made: str) -> Iterator[str]:
    lines = zip_longest(written.splitlines(), made.splitlines(), fillvalue="")
    for number, (was, now) in enumerate(lines, start=1):
        if was != now:
            yield f"{name} line {number}: written {was!r}, recomputed {now!r}"
