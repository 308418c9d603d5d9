"""Shards of one division are disjoint and cover all rows, and only all of them, each once, give the rows back."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.config import ConfigError
from eval.dialogue import Dialogue, Message
from eval.shard import FILE, Shard, ShardRows, interleaved, mark, read_shard

DIALOGUES = [Dialogue("toy", (Message("user", str(number)),)) for number in range(40)]
IDS = [dialogue.id for dialogue in DIALOGUES]


def cut(count: int, rows: int = len(DIALOGUES)) -> list[ShardRows]:
    return [ShardRows.of(Shard(index, count), DIALOGUES[:rows]) for index in range(1, count + 1)]


@given(rows=st.integers(1, 40), data=st.data())
def test_all_shards_in_any_order_give_the_rows_back_in_theirs(rows: int, data: st.DataObject) -> None:
    count = data.draw(st.integers(1, rows))
    shards = data.draw(st.permutations(cut(count, rows)))
    order = interleaved(shards)
    assert [id for _, id in order] == IDS[:rows]
    assert all(id in shards[place].ids for place, id in order)
    assert max(len(part.ids) for part in shards) - min(len(part.ids) for part in shards) <= 1


def test_every_task_is_spread_over_the_shards() -> None:
    rows = ["a"] * 8 + ["b"] * 8
    assert all(Shard(index, 4).of_rows(rows) == ["a", "a", "b", "b"] for index in range(1, 5))


@pytest.mark.parametrize("text", ["0/4", "5/4", "4", "1/0", "-1/4", "1 / 4", "1/4/2", "a/b", ""])
def test_what_is_no_shard_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not a valid shard; write I/N"):
        Shard.parse(text)


def test_a_shard_has_a_folder_of_its_own_and_keeps_it() -> None:
    shard = Shard.parse("2/4")
    assert str(shard) == "2/4"
    assert shard.folder(Path("runs/x")) == Path("runs/x/shards/2-of-4")
    assert shard.folder(Path("runs/x/shards/2-of-4")) == Path("runs/x/shards/2-of-4")
    assert Shard(1, 4).folder(Path("shards/2-of-4")) == Path("shards/2-of-4/shards/1-of-4")


def test_more_shards_than_rows_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"shard 3/3 of 2 rows has none; make no more than 2 shards"):
        ShardRows.of(Shard(3, 3), DIALOGUES[:2])


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda: cut(4)[:3], r"shard 4/4 is missing; make it with eval\.probe --shard 4/4$"),
        (lambda: [cut(4)[1]], r"shards 1/4, 3/4, 4/4 are missing; make each with eval\.probe --shard I/4$"),
        (lambda: [*cut(4), cut(4)[1]], r"shard 2/4 is given twice"),
        (lambda: [*cut(2)[:1], *cut(3)], r"differ in their number N: 1/2, 1/3, 2/3, 3/3"),
        (lambda: [*cut(2, 30)[:1], *cut(2)[1:]], r"have different data or limits"),
        (lambda: [cut(2)[0], ShardRows(Shard(2, 2), cut(2)[1].ids[:-1], cut(2)[1].digest)], r"was changed"),
    ],
)
def test_what_is_not_all_shards_of_the_same_rows_is_refused(spoil: Callable[[], list[ShardRows]], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        interleaved(spoil())


def test_a_folder_says_which_shard_it_is_while_it_is_one(tmp_path: Path) -> None:
    rows = cut(4)[2]
    mark(tmp_path, rows)
    assert read_shard(tmp_path) == rows
    mark(tmp_path, None)
    with pytest.raises(ConfigError, match=r"is not a shard of a run: it has no shard\.json"):
        read_shard(tmp_path)


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"shard": "1/2"}', json.dumps({"shard": "3/2", "rows": [], "all_rows": ""})]
)
def test_a_damaged_file_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_text(text)
    with pytest.raises(ConfigError, match=r"shard\.json was not written by this version"):
        read_shard(tmp_path)
