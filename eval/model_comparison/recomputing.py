"""A written table against the same table made again from the rows: each cell that differs, by its name."""

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
    """What was made again, and a line for each thing that differs."""

    cells: int
    files: int
    rows: int
    differences: tuple[str, ...]


def recompute(folder: Path) -> Recomputed:
    """Make the table in `folder` again from the runs that it names, and compare every file of it.

    Raises:
        ConfigError: there is no table, or one of its runs is missing, unfinished or of another protocol, or its labels.
    """
    sources, digests = read_sources(folder)
    comparison = sources.compare()
    correction = sources.correct(comparison, read_decisions(folder)) if sources.labels else None
    files = render(comparison, folder, correction)
    found = [
        f"{source}: its rows are not those that the table was made from"
        for source, digest in digests.items()
        if rows_digest(folder / source) != digest
    ]
    made = json.loads(files[JSON])
    for name, text in files.items():
        found += _compared(folder / name, name, text)
    return Recomputed(
        cells=sum(len(row) - 1 for table in made for row in table["rows"]),
        files=len(files),
        rows=sum(len(model.rows) for model in comparison.compared),
        differences=tuple(found),
    )


def _compared(path: Path, name: str, made: str) -> Iterator[str]:
    """The differences between a written file and what it should be."""
    if not path.is_file():
        yield f"{name}: is missing"
        return
    written = path.read_text(encoding="utf-8")
    if written == made:
        return
    cells = list(_cells_that_differ(written, made)) if name == JSON else []
    yield from cells or _lines_that_differ(name, written, made)


def _cells_that_differ(written: str, made: str) -> Iterator[str]:
    """By table, row and column; nothing where the two are not of one shape."""
    try:
        before, after = (dict(_cells(json.loads(text))) for text in (written, made))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigError(f"{JSON} is no table of `eval.table2` ({type(error).__name__}: {error})") from error
    for key in dict.fromkeys([*before, *after]):
        was, now = before.get(key), after.get(key)
        if was != now:
            yield f"{JSON}: {' / '.join(key)}: written {_told(was, now)}, the rows say {_told(now, was)}"


def _cells(tables: list[dict[str, Any]]) -> Iterator[tuple[tuple[str, str, str], dict[str, Any]]]:
    for table in tables:
        for row in table["rows"]:
            for column, cell in zip(table["columns"], row, strict=True):
                yield (table["title"], row[0]["text"], column), cell


def _told(cell: dict[str, Any] | None, other: dict[str, Any] | None) -> str:
    """Its text; where that is the same in both, the fields that are not."""
    if cell is None:
        return "nothing"
    if other is None or cell.get("text") != other.get("text"):
        return repr(cell.get("text"))
    return ", ".join(f"{key} {value}" for key, value in cell.items() if value != other.get(key))


def _lines_that_differ(name: str, written: str, made: str) -> Iterator[str]:
    lines = zip_longest(written.splitlines(), made.splitlines(), fillvalue="")
    for number, (was, now) in enumerate(lines, start=1):
        if was != now:
            yield f"{name} line {number}: written {was!r}, the rows say {now!r}"
