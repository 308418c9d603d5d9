"""One of N shards of a run's rows: each a run of its own, in its own folder, by a worker that knows of no other.

A shard leaves `shard.json` in its folder: its rows in the order of the data, and a digest of all rows, by which
`eval.merge` sees that the shards are of the same rows and that none is missing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import TypeVar

from eval.config import ConfigError
from eval.dialogue import Dialogue, content_hash
from eval.run_dir import write_atomically

T = TypeVar("T")
FILE = "shard.json"


@dataclass(frozen=True)
class Shard:
    """Shard `index` of `of`, from 1: every `of`-th row, so that tasks are spread evenly over the shards."""

    index: int
    of: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Read "I/N".

        Raises:
            ValueError: it is not that, or I is not from 1 to N.
        """
        match = re.fullmatch(r"(\d+)/(\d+)", text)
        if match is None or not 1 <= int(match[1]) <= int(match[2]):
            raise ValueError(f"{text!r} is no shard; write I/N with I from 1 to N, such as 1/4")
        return cls(int(match[1]), int(match[2]))

    def __str__(self) -> str:
        return f"{self.index}/{self.of}"

    def of_rows(self, rows: Sequence[T]) -> list[T]:
        """Those of the rows that are in this shard, in their order."""
        return list(rows[self.index - 1 :: self.of])

    def folder(self, run_dir: Path) -> Path:
        """Its own folder below that of the whole run; one that is the shard's already stays as it is."""
        own = Path("shards", f"{self.index}-of-{self.of}")
        return run_dir if run_dir.parts[-2:] == own.parts else run_dir / own


@dataclass(frozen=True)
class ShardRows:
    """What `shard.json` says."""

    shard: Shard
    ids: tuple[str, ...]
    """Of the shard's dialogues, in the order of the data."""
    digest: str
    """Of the ids of all dialogues."""

    @classmethod
    def of(cls, shard: Shard, dialogues: Sequence[Dialogue]) -> ShardRows:
        """The rows of `shard` among all `dialogues`.

        Raises:
            ConfigError: there are none.
        """
        ids = [dialogue.id for dialogue in dialogues]
        own = tuple(shard.of_rows(ids))
        if not own:
            raise ConfigError(f"shard {shard} of {len(ids)} rows has none; make no more than {len(ids)} shards")
        return cls(shard, own, content_hash(ids))


def mark(folder: Path, rows: ShardRows | None) -> None:
    """Put `shard.json` into a run folder; one that is no shard gets none, even if it was one."""
    if rows is None:
        (folder / FILE).unlink(missing_ok=True)
        return
    told = {"shard": str(rows.shard), "all_rows": rows.digest, "rows": rows.ids}
    write_atomically(folder / FILE, json.dumps(told) + "\n")


def read_shard(folder: Path) -> ShardRows:
    """The `shard.json` of a run folder.

    Raises:
        ConfigError: there is none, or none that this version wrote.
    """
    path = folder / FILE
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        return ShardRows(Shard.parse(told["shard"]), tuple(told["rows"]), told["all_rows"])
    except OSError as error:
        raise ConfigError(f"{folder} is no shard of a run: it has no {FILE}; make one with --shard I/N") from error
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigError(f"{path} was not written by this version ({error}); run the shard again") from error


def interleaved(shards: Sequence[ShardRows]) -> list[tuple[int, str]]:
    """The ids of all rows in the order of the data, each with the place of its shard in `shards`.

    Raises:
        ConfigError: they are not all the shards of the same rows, each once.
    """
    of = {part.shard.of for part in shards}
    if len(of) != 1:
        raise ConfigError(f"shards of different divisions: {', '.join(str(part.shard) for part in shards)}")
    count = of.pop()
    places: dict[int, int] = {}
    for place, part in enumerate(shards):
        if part.shard.index in places:
            raise ConfigError(f"shard {part.shard} is given twice; each shard's rows are added once")
        places[part.shard.index] = place
    if missing := [f"{index}/{count}" for index in range(1, count + 1) if index not in places]:
        raise ConfigError(f"{len(missing)} of {count} shards are missing: {', '.join(missing)}")
    if len({part.digest for part in shards}) != 1:
        raise ConfigError("the shards are not of the same rows: their limits or data differ; run all with the same")
    in_order = sorted(places.values(), key=lambda place: shards[place].shard.index)
    rounds = zip_longest(*([(place, id) for id in shards[place].ids] for place in in_order))
    order = [row for each in rounds for row in each if row is not None]
    if content_hash([id for _, id in order]) != shards[0].digest:
        raise ConfigError(
            f"the {FILE} of a shard was changed: together they do not have the rows that they were cut from"
        )
    return order
