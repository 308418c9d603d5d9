"""Where the rows of a data set come from: a local file, else the Hub at a pinned revision. It knows no task."""

from __future__ import annotations

import hashlib
import logging
import os
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from eval.data_files import Columns, brief, read_file
from eval.dialogue import ROLES, Message

log = logging.getLogger(__name__)

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


def read_source(
    source: Source, columns: Columns, *, split: str = "", data_dir: Path | None = None
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (place, row) for every row of a split, with exactly the named columns, in file order.

    Raises:
        FileNotFoundError: no local file, and the Hub can't be reached or refuses; says what to fetch and how.
        ValueError: a malformed row, or a file without rows.
    """
    for path in local_files(source, split, data_dir) or [_hub_file(source, split, data_dir)]:
        yield from read_file(path, columns)


def read_unique(
    source: Source, columns: Columns, key: str, *, split: str = "", data_dir: Path | None = None
) -> Iterator[tuple[str, dict[str, Any]]]:
    """As `read_source`, of a data set in which no two rows have the same value in column `key`.

    Raises:
        ValueError: two rows have; the message has both places and, as the set may be gated, not the value.
    """
    places: dict[Any, str] = {}
    for place, row in read_source(source, columns, split=split, data_dir=data_dir):
        first = places.setdefault(row[key], place)
        if first != place:
            raise ValueError(f"{place}: its {key} is already at {first}; remove one of the two")
        yield place, row


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


def read_messages(place: str, value: Any) -> tuple[Message, ...]:
    """The messages of a chat in the usual JSON form, `[{"role": ..., "content": ...}, ...]`; text is kept verbatim.

    Raises:
        ValueError: not such a list, an empty list, or a role other than system, user and assistant.
    """
    if not isinstance(value, list) or not value:
        raise ValueError(f"{place}: messages must be a list with at least one message, not {brief(value)}")
    return tuple(_read_message(f"{place}, message {index}", item) for index, item in enumerate(value))


def read_prompt(place: str, value: Any) -> tuple[Message, ...]:
    """As `read_messages`, of a chat that a user spoke last in.

    Raises:
        ValueError: as `read_messages`, or another role spoke last.
    """
    messages = read_messages(place, value)
    if messages[-1].role != "user":
        raise ValueError(f"{place}: the prompt ends in a {messages[-1].role} message, not in a user message")
    return messages


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


def _read_message(place: str, item: Any) -> Message:
    if not isinstance(item, dict) or "role" not in item or "content" not in item:
        raise ValueError(f"{place}: {brief(item)} is not an object with role and content")
    if item["role"] not in ROLES:
        raise ValueError(f"{place}: role {brief(item['role'])} is not one of {', '.join(ROLES)}; rename or drop it")
    if not isinstance(item["content"], str):
        raise ValueError(f"{place}: content {brief(item['content'])} is not a string")
    return Message(item["role"], item["content"])
