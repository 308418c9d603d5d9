"""Rows of one data file, JSON lines, parquet or CSV, each with its place in it. It knows no data set.

JSON lines are read here and not by the `datasets` loader, which rewrites values ("007" becomes 7, huggingface/datasets
#7664). Every row comes with its place ("FILE line N"), so that a task can name it in an error.
"""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import UnionType
from typing import Any

Columns = Mapping[str, type | UnionType]
"""Column name to the Python type of its JSON value, such as `{"prompt": list, "note": str | None}`."""

_digests: dict[str, str] = {}


def read_file(path: Path, columns: Columns) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (place, row) for every row of a `.jsonl`, `.parquet` or `.csv` file, in order, with the named columns.

    Raises:
        ValueError: a malformed row, or a file without rows.
    """
    with path.open("rb") as file:
        _digests[str(path.resolve())] = hashlib.file_digest(file, "sha256").hexdigest()
    yield from READERS[path.suffix](path, columns)


def files_read() -> dict[str, str]:
    """Every file that `read_file` has begun to read in this process, by its absolute path, with its SHA-256."""
    return dict(sorted(_digests.items()))


def read_jsonl(path: Path, columns: Columns) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (place, row) for every line of a JSONL file, one line in memory at a time; values stay as written.

    Lines end at a newline byte only, blank ones are passed over. An integer in a `str` column becomes its digits.

    Raises:
        ValueError: a line is not a JSON object in UTF-8, lacks a column or has a wrong type; or there are no rows.
    """
    place = ""
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            place = f"{path} line {number}"
            try:
                row = json.loads(line.decode("utf-8-sig" if number == 1 else "utf-8"), parse_constant=_refuse_constant)
                json.dumps(row, ensure_ascii=False).encode()  # a lone surrogate ("\ud800") can be parsed, never written
            except (ValueError, RecursionError) as error:
                raise ValueError(
                    f"{place}: not JSON in UTF-8 ({error}); mend the line or fetch the file anew"
                ) from None
            yield place, _select(place, row, columns)
    if not place:
        raise ValueError(f"{path}: no rows; fetch the file anew")


def _read_parquet(path: Path, columns: Columns) -> Iterator[tuple[str, dict[str, Any]]]:
    import pyarrow.parquet

    number = 0
    with pyarrow.parquet.ParquetFile(path) as file:
        for batch in file.iter_batches():
            for row in batch.to_pylist():
                number += 1
                place = f"{path} row {number}"
                yield place, _select(place, row, columns)
    if not number:
        raise ValueError(f"{path}: no rows; fetch the file anew")


def _read_csv(path: Path, columns: Columns) -> Iterator[tuple[str, dict[str, Any]]]:
    """Rows by column name; a cell may hold commas, quotes and newlines. Errors quote no cell, the set may be gated."""
    place = ""
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file, strict=True)
        try:
            if missing := [name for name in columns if name not in (reader.fieldnames or columns)]:
                raise ValueError(f"{path}: its first line names no column {missing[0]!r}; use the official file")
            for number, row in enumerate(reader, start=1):
                place = f"{path} row {number}"
                if None in row or None in row.values():
                    raise ValueError(f"{place}: not {len(reader.fieldnames or ())} cells; fetch the file anew")
                yield place, _select(place, row, columns)
        except (csv.Error, UnicodeDecodeError) as error:
            raise ValueError(f"{path} after line {reader.line_num}: not CSV in UTF-8 ({error})") from None
    if not place:
        raise ValueError(f"{path}: no rows; fetch the file anew")


READERS = {".jsonl": read_jsonl, ".parquet": _read_parquet, ".csv": _read_csv}


def _select(place: str, row: Any, columns: Columns) -> dict[str, Any]:
    if not isinstance(row, dict):
        raise ValueError(f"{place}: not a JSON object but {brief(row)}; write one object a line")
    if missing := [name for name in columns if name not in row]:
        raise ValueError(f"{place}: no column {missing[0]!r}, found {sorted(row)}; use the official file")
    return {name: _typed(f"{place}, column {name!r}", row[name], kind) for name, kind in columns.items()}


def _typed(place: str, value: Any, kind: type | UnionType) -> Any:
    if kind is str and isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, kind):
        expected = getattr(kind, "__name__", str(kind))
        raise ValueError(f"{place}: {brief(value)} is not of type {expected}; use the official file")
    return value


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def brief(value: Any) -> str:
    """A value of the data for an error message, in 60 characters at most."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
