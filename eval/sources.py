"""Where the rows of a data set come from: a local file, else the Hub at a pinned revision. It knows no task.

JSON lines are read here and not by the `datasets` loader, which rewrites values ("007" becomes 7, huggingface/datasets
#7664). Every row comes with its place ("FILE line N"), so that a task can name it in an error.
"""

from __future__ import annotations

import csv
import hashlib
import json
import logging
import os
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import UnionType
from typing import Any, TypeVar

from eval.dialogue import ROLES, Message

log = logging.getLogger(__name__)

Columns = Mapping[str, type | UnionType]
"""Column name to the Python type of its JSON value, such as `{"prompt": list, "note": str | None}`."""
Item = TypeVar("Item")


@dataclass(frozen=True)
class Source:
    """A data set: where it lives, in which version, under which licence."""

    url: str
    """Where the data set is described, or "written for this project"."""
    licence: str
    local: tuple[str, ...]
    """Glob patterns below the data folder, preferred first; `{split}` is filled in. Without a Hub id: package files."""
    hub_id: str | None = None
    revision: str | None = None
    """Full commit hash of the Hub repository; None where it is not known, then `sha256` pins the file."""
    hub_file: str | None = None
    """File in the Hub repository, `.jsonl`, `.parquet` or `.csv`; `{split}` is filled in."""
    sha256: str | None = None
    """Of the Hub file, checked once it is fetched."""
    gated: bool = False
    """Whether the Hub gives it only to those who accepted its terms; its text is then shown nowhere in plain form."""


def read_rows(
    source: Source, columns: Columns, *, split: str = "", data_dir: Path | None = None
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (place, row) for every row of a split, with exactly the named columns, in file order.

    Raises:
        FileNotFoundError: no local file, and the Hub can't be reached or refuses; says what to fetch and how.
        ValueError: a malformed row, or a file without rows.
    """
    for path in local_files(source, split, data_dir) or [_hub_file(source, split, data_dir)]:
        yield from READERS[path.suffix](path, columns)


def local_files(source: Source, split: str, data_dir: Path | None) -> list[Path]:
    """The files of the first pattern with a match below `data_dir` (else below the variable `USERTURN_DATA`)."""
    folder = data_folder(data_dir)
    if folder is None:
        return []
    if not folder.is_dir():
        raise FileNotFoundError(f"no folder {folder}; give an existing one as --data-dir or USERTURN_DATA, or neither")
    for pattern in source.local:
        if found := sorted(folder.glob(pattern.format(split=split))):
            return found
    return []


def data_folder(data_dir: Path | None) -> Path | None:
    """`data_dir`, else the folder that the variable `USERTURN_DATA` names, else None."""
    folder = data_dir or os.environ.get("USERTURN_DATA")
    return Path(folder).expanduser() if folder else None


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


def read_messages(place: str, value: Any) -> tuple[Message, ...]:
    """The messages of a chat in the usual JSON form, `[{"role": ..., "content": ...}, ...]`; text is kept verbatim.

    Raises:
        ValueError: not such a list, an empty list, or a role other than system, user and assistant.
    """
    if not isinstance(value, list) or not value:
        raise ValueError(f"{place}: messages must be a list with at least one message, not {_brief(value)}")
    return tuple(_read_message(f"{place}, message {index}", item) for index, item in enumerate(value))


def choose(items: Sequence[Item], limit: int | None, seed: int) -> list[Item]:
    """The first `limit` of a seeded shuffle (None: all of it): a larger limit only adds items.

    Raises:
        ValueError: `limit` is below 1.
    """
    if limit is not None and limit < 1:
        raise ValueError(f"limit is {limit}; give 1 or more, or none for all rows")
    shuffled = list(items)
    random.Random(seed).shuffle(shuffled)
    return shuffled[:limit]


def _hub_file(source: Source, split: str, data_dir: Path | None) -> Path:
    """Fetch a file of the pinned revision, or find it in the Hub's local cache."""
    if source.hub_id is None or source.hub_file is None:
        raise FileNotFoundError(f"no local file {_looked_for(source, split, data_dir)}, and it is not on the Hub")
    from huggingface_hub import get_token, hf_hub_download

    name = source.hub_file.format(split=split)
    log.info("no local file for %s; asking the Hub for %s", source.hub_id, name)
    # Without a token a gated set can only be in the local cache; asking for it would be retried for half a minute.
    cached = source.gated and not get_token()
    try:
        path = hf_hub_download(
            source.hub_id, name, repo_type="dataset", revision=source.revision, local_files_only=cached
        )
    except OSError as error:  # every Hub error is one: no network, offline mode, gated, missing
        raise FileNotFoundError(
            f"no local file {_looked_for(source, split, data_dir)}, and the Hub did not give {source.hub_id} {name} "
            f"({type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else 'no detail'}). "
            f"{_how_to_fetch(source, name)}"
        ) from error
    if source.sha256 and hashlib.sha256(Path(path).read_bytes()).hexdigest() != source.sha256:
        raise ValueError(f"{path}: not the file with SHA-256 {source.sha256}; the Hub has another version now")
    return Path(path)


def _how_to_fetch(source: Source, name: str) -> str:
    from huggingface_hub import get_token

    revision = f" --revision {source.revision}" if source.revision else ""
    command = f"`hf download {source.hub_id} {name} --repo-type dataset{revision}`"
    if not source.gated:
        return f"On a machine with network run {command} ({source.url})"
    token = "a token is set, perhaps of an account without access" if get_token() else "no token is set"
    return (
        f"The set is gated, and {token}: accept its terms at {source.url}, then on a machine with network run "
        f"`hf auth login` and {command}; or put the file itself where it was looked for"
    )


def _looked_for(source: Source, split: str, data_dir: Path | None) -> str:
    folder = data_folder(data_dir) or "DIR (none given as --data-dir or USERTURN_DATA)"
    return " or ".join(f"{folder}/{pattern.format(split=split)}" for pattern in source.local)


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
        raise ValueError(f"{place}: not a JSON object but {_brief(row)}; write one object a line")
    if missing := [name for name in columns if name not in row]:
        raise ValueError(f"{place}: no column {missing[0]!r}, found {sorted(row)}; use the official file")
    return {name: _typed(f"{place}, column {name!r}", row[name], kind) for name, kind in columns.items()}


def _typed(place: str, value: Any, kind: type | UnionType) -> Any:
    if kind is str and isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, kind):
        expected = getattr(kind, "__name__", str(kind))
        raise ValueError(f"{place}: {_brief(value)} is not of type {expected}; use the official file")
    return value


def _read_message(place: str, item: Any) -> Message:
    if not isinstance(item, dict) or "role" not in item or "content" not in item:
        raise ValueError(f"{place}: {_brief(item)} is not an object with role and content")
    if item["role"] not in ROLES:
        raise ValueError(f"{place}: role {_brief(item['role'])} is not one of {', '.join(ROLES)}; rename or drop it")
    if not isinstance(item["content"], str):
        raise ValueError(f"{place}: content {_brief(item['content'])} is not a string")
    return Message(item["role"], item["content"])


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _brief(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
