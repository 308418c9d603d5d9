"""One of N shards of a run's rows: a separate run in its own folder, made by an independent worker.

`shard.json` in its folder lists its rows in the order of the data, with a digest of all rows, by which `eval.merge`
checks that the shards belong to the same rows and that none is missing.
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
        """From "I/N".

        Raises:
            ValueError: the text has another form, or I is not between 1 and N.
        """
        match = re.fullmatch(r"(\d+)/(\d+)", text)
        if match is None or not 1 <= int(match[1]) <= int(match[2]):
            raise ValueError(f"{text!r} is not a valid shard; write I/N with I from 1 to N, such as 1/4")
        return cls(int(match[1]), int(match[2]))

    def __str__(self) -> str:
        return f"{self.index}/{self.of}"

    def of_rows(self, rows: Sequence[T]) -> list[T]:
        """The rows of this shard, in order."""
        return list(rows[self.index - 1 :: self.of])

    def folder(self, run_dir: Path) -> Path:
        """The folder of the shard inside that of the whole run; `run_dir` itself if it already is that folder."""
        own = Path("shards", f"{self.index}-of-{self.of}")
        return run_dir if run_dir.parts[-2:] == own.parts else run_dir / own


@dataclass(frozen=True)
class ShardRows:
    """The content of `shard.json`."""

    shard: Shard
    ids: tuple[str, ...]
    """Ids of the shard's dialogues, in the order of the data."""
    digest: str
    """Hash of the ids of all dialogues."""

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
    """Write `shard.json` into a run folder, or remove it if the run is not a shard."""
    if rows is None:
        (folder / FILE).unlink(missing_ok=True)
        return
    content = {"shard": str(rows.shard), "all_rows": rows.digest, "rows": rows.ids}
    write_atomically(folder / FILE, json.dumps(content) + "\n")


def read_shard(folder: Path) -> ShardRows:
    """The `shard.json` of a run folder.

    Raises:
        ConfigError: it is missing, or was not written by this version.
    """
    path = folder / FILE
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return ShardRows(Shard.parse(content["shard"]), tuple(content["rows"]), content["all_rows"])
    except OSError as error:
        raise ConfigError(f"{folder} is not a shard of a run: it has no {FILE}; make one with --shard I/N") from error
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigError(f"{path} was not written by this version ({error}); run the shard again") from error


def interleaved(shards: Sequence[ShardRows]) -> list[tuple[int, str]]:
    """The ids of all rows in the order of the data, as (place of the shard in `shards`, id).

    Raises:
        ConfigError: these are not all shards of the same rows, each given once.
    """
    of = {part.shard.of for part in shards}
    if len(of) != 1:
        raise ConfigError(f"the shards differ in their number N: {', '.join(str(part.shard) for part in shards)}")
    count = of.pop()
    places: dict[int, int] = {}
    for place, part in enumerate(shards):
        if part.shard.index in places:
            raise ConfigError(f"shard {part.shard} is given twice; give each shard once")
        places[part.shard.index] = place
    if missing := [f"{index}/{count}" for index in range(1, count + 1) if index not in places]:
        if len(missing) == 1:
            raise ConfigError(f"shard {missing[0]} is missing; make it with eval.probe --shard {missing[0]}")
        raise ConfigError(f"shards {', '.join(missing)} are missing; make each with eval.probe --shard I/{count}")
    if len({part.digest for part in shards}) != 1:
        raise ConfigError("the shards have different data or limits; run all shards with the same settings")
    in_order = sorted(places.values(), key=lambda place: shards[place].shard.index)
    rounds = zip_longest(*([(place, id) for id in shards[place].ids] for place in in_order))
    order = [row for each in rounds for row in each if row is not None]
    if content_hash([id for _, id in order]) != shards[0].digest:
        raise ConfigError(
            f"the {FILE} of a shard was changed: together the shards do not have all rows; run the shards again"
        )
    return order
