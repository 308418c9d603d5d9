"""The row store keeps every finished row, whatever happens to the process that writes it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from eval.dialogue import Dialogue, Failure, Judgement, Message
from eval.rows import RowStore, numbered_rows, read_rows


def dialogue(number: int, text: str = "hello") -> Dialogue:
    return Dialogue("toy", (Message("user", text), Message("assistant", "hi", "m", "stop", 3)), meta={"row": number})


def test_rows_come_back_equal(tmp_path: Path) -> None:
    judged = replace(dialogue(1, "naïve ☂\n\u2028"), judgement=Judgement("other", False, "j"), correct=True)
    with RowStore(tmp_path / "rows.jsonl") as store:
        store.append("a", judged)
        store.append("b", dialogue(2))
        assert store.get("a") == judged
    with RowStore(tmp_path / "rows.jsonl") as store:
        assert store.get("a") == judged
        assert len(store) == 2
        assert not store.missing("a")
        assert store.missing("c")


def test_a_lone_surrogate_is_kept(tmp_path: Path) -> None:
    odd = dialogue(1, "broken \ud83d emoji")
    with RowStore(tmp_path / "rows.jsonl") as store:
        store.append("a", odd)
        assert store.get("a") == odd


@pytest.mark.parametrize("cut", [1, 2, 40])
def test_a_torn_last_line_is_dropped_and_its_row_missing(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "rows.jsonl"
    with RowStore(path) as store:
        store.append("a", dialogue(1))
        store.append("b", dialogue(2))
    path.write_bytes(path.read_bytes()[:-cut])
    assert [row.meta["row"] for row in read_rows(path)] == [1]
    with RowStore(path) as store:
        assert not store.missing("a")
        assert store.missing("b")
        store.append("b", dialogue(3))
        assert store.get("b").meta["row"] == 3
    assert [row.meta["row"] for row in read_rows(path)] == [1, 3]


@pytest.mark.parametrize("failure", [Failure("load", "no_ideal_completion"), Failure("generate", "context_too_long")])
def test_a_row_that_would_fail_again_is_not_missing(tmp_path: Path, failure: Failure) -> None:
    for _ in range(2):
        with RowStore(tmp_path / "rows.jsonl") as store:
            if store.missing("a"):
                store.append("a", replace(dialogue(1), failure=failure))
            assert not store.missing("a")
    assert len((tmp_path / "rows.jsonl").read_text().splitlines()) == 1


def test_a_failed_row_may_be_tried_again_and_the_last_row_counts(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    with RowStore(path) as store:
        store.append("a", replace(dialogue(1), failure=Failure("judge", "timeout")))
        assert store.missing("a")
        store.append("a", dialogue(1))
        assert not store.missing("a")
    with RowStore(path) as store:
        assert not store.missing("a")
        assert store.get("a").failure is None
        assert [row.state for row in store] == ["ok"]
    assert [row.state for row in read_rows(path)] == ["ok"]


@pytest.mark.parametrize(
    "line",
    ["not json", "[]", "{}", '{"key": 1}', '{"key": "a"}', json.dumps({"key": "a", "task": "t", "messages": [{}]})],
)
def test_a_line_that_is_no_row_is_an_error_with_its_place(tmp_path: Path, line: str) -> None:
    path = tmp_path / "rows.jsonl"
    with RowStore(path) as store:
        store.append("a", dialogue(1))
        store.append("b", dialogue(2))
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], line, lines[1]]) + "\n")
    with pytest.raises(ValueError, match=r"rows\.jsonl line 2 .*Delete this line"):
        RowStore(path)
    with pytest.raises(ValueError, match="line 2"):
        list(read_rows(path))


def test_rows_are_numbered_by_their_lines_and_the_last_of_a_key_counts(tmp_path: Path) -> None:
    with RowStore(tmp_path / "rows.jsonl") as store:
        for key, text in (("a", "one"), ("b", "two"), ("a", "three")):
            store.append(key, dialogue(0, text))
    numbered = list(numbered_rows(tmp_path / "rows.jsonl"))
    assert [(line, row.messages[0].text) for line, row in numbered] == [(2, "two"), (3, "three")]
    assert [row for _, row in numbered] == list(read_rows(tmp_path / "rows.jsonl"))


def test_two_writers_are_refused(tmp_path: Path) -> None:
    with RowStore(tmp_path / "rows.jsonl"), pytest.raises(BlockingIOError):
        RowStore(tmp_path / "rows.jsonl")


WRITER = """
import sys
from pathlib import Path
from eval.dialogue import Dialogue, Message
from eval.rows import RowStore
with RowStore(Path(sys.argv[1])) as store:
    for number in range(10**6):
        store.append(f"k{number}", Dialogue("toy", (Message("user", "x" * 5000),), meta={"row": number}))
        print(number, flush=True)
"""


def test_kill_nine_loses_no_finished_row(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    writer = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True)
    assert writer.stdout is not None
    seen = [int(next(writer.stdout)) for _ in range(50)]
    os.kill(writer.pid, signal.SIGKILL)
    seen += [int(line) for line in writer.stdout.read().splitlines()]
    writer.wait()
    with RowStore(path) as store:
        assert all(not store.missing(f"k{number}") for number in seen)
        assert len(store) >= len(seen)
