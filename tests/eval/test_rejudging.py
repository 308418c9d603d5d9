"""Judging stored rows again: each text once, nothing twice, a failure once more, and no text kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from eval.config import ConfigError
from eval.dialogue import Dialogue, Failure, Judgement
from eval.finished_runs import read_runs
from eval.gated_text import GATED
from eval.progress import silent
from eval.rejudging import Rejudging, open_store, read_panel, refuse_one_judge

MakeRun = Callable[..., Path]
RowsOf = Callable[..., list[Dialogue]]


class Counting:
    """A judge that says yes to turns with a question mark, remembers what it was asked, and may stop or fail."""

    id = "counting-1"
    cost_bound = 0.0

    def __init__(self, stops_after: int = 1000, fails: bool = False) -> None:
        self.asked: list[Dialogue] = []
        self.measured: dict[str, Any] = {}
        self._stops_after, self._fails = stops_after, fails

    def judge(self, dialogues: Iterable[Dialogue]) -> Iterator[tuple[Dialogue, Judgement | Failure]]:
        for dialogue in dialogues:
            if len(self.asked) == self._stops_after:
                raise KeyboardInterrupt
            self.asked.append(dialogue)
            judgement = Judgement("other", "?" in dialogue.messages[-1].text, self.id)
            yield dialogue, Failure("judge", "timeout") if self._fails else judgement


@pytest.fixture
def run(make_run: MakeRun, rows_of: RowsOf) -> Path:
    """12 judged rows, one that failed to be judged and one that was never spoken."""
    rows = rows_of("ifbench", 14, 5)
    rows[12] = replace(rows[12], judgement=None, failure=Failure("judge", "refusal"))
    rows[13] = replace(rows[13], judgement=None, failure=Failure("generate", "context_too_long"))
    rows[13] = replace(rows[13], messages=rows[13].messages[:1])
    return make_run("run", rows)


def test_every_spoken_turn_is_asked_once_and_goes_on_where_it_was(run: Path, tmp_path: Path) -> None:
    panel = read_panel(read_runs([run]))
    assert len(panel.ids) == 13 and panel.left_out == 1 and len(set(panel.ids)) == 13
    stopped = Counting(stops_after=5)
    with open_store(tmp_path / "out") as store, pytest.raises(KeyboardInterrupt):
        Rejudging(panel, stopped, store).judge(silent)
    again = Counting()
    with open_store(tmp_path / "out") as store:
        rejudged = Rejudging(panel, again, store)
        rejudged.judge(silent)
        assert rejudged.missing() == []
        assert [result.judge for result in rejudged.results() if isinstance(result, Judgement)] == ["counting-1"] * 13
    assert len(stopped.asked) == 5 and len(again.asked) == 8
    assert all(one.judgement is None and one.failure is None for one in again.asked), "asked blind"
    text = (tmp_path / "out" / "judgements.jsonl").read_text()
    assert "query" not in text and "Why" not in text


def test_what_the_runs_own_judge_has_said_is_not_asked_again(run: Path, tmp_path: Path) -> None:
    panel, judge = read_panel(read_runs([run])), Counting()
    judge.id = "local-1"
    with open_store(tmp_path / "out") as store:
        rejudged = Rejudging(panel, judge, store)
        rejudged.judge(silent)
        assert len(judge.asked) == 1, "the row that it failed on"
        genuine = [result.genuine for result in rejudged.results() if isinstance(result, Judgement)]
    assert genuine == [True] * 5 + [False] * 7 + [True]


def test_a_failure_is_a_value_and_is_tried_again(run: Path, tmp_path: Path) -> None:
    panel, before = read_panel(read_runs([run])), []
    for judge, after in ((Counting(fails=True), Failure), (Counting(), Judgement)):
        with open_store(tmp_path / "out") as store:
            rejudged = Rejudging(panel, judge, store)
            before.append(next(rejudged.results()))
            rejudged.judge(silent)
            assert len(judge.asked) == 13
            assert {type(result) for result in rejudged.results()} == {after}
    unasked = Failure("judge", "no_reply", "the judge gave no result for this turn")
    assert before == [unasked, Failure("judge", "timeout")]


@pytest.mark.parametrize("result", [Judgement("other", False, "q", "says: secret"), Failure("judge", "x", "secret")])
def test_what_a_judge_quotes_of_a_gated_row_is_not_kept(
    make_run: MakeRun, rows_of: RowsOf, tmp_path: Path, result: Judgement | Failure
) -> None:
    open_row, gated_row = rows_of("ifbench", 2, 2)
    panel = read_panel(read_runs([make_run("run", [open_row, replace(gated_row, meta={**gated_row.meta, **GATED})])]))

    class Quoting(Counting):
        def judge(self, dialogues: Iterable[Dialogue]) -> Iterator[tuple[Dialogue, Judgement | Failure]]:
            return ((dialogue, result) for dialogue in dialogues)

    with open_store(tmp_path / "out") as store:
        Rejudging(panel, Quoting(), store).judge(silent)
    kept = (tmp_path / "out" / "judgements.jsonl").read_text()
    assert kept.count("secret") == 1 and kept.count("gated text withheld") == 1


def test_rows_that_say_the_same_are_asked_once(make_run: MakeRun, rows_of: RowsOf, tmp_path: Path) -> None:
    runs = [make_run(name, rows_of("ifbench", 6, 2, model=f"m@{name}"), model=f"m@{name}") for name in ("a", "b")]
    panel, judge = read_panel(read_runs(runs)), Counting()
    assert len(set(panel.ids)) == 12 and len(set(panel.contexts)) == 6
    with open_store(tmp_path / "out") as store:
        Rejudging(panel, judge, store).judge(silent)
    assert len(judge.asked) == 6


def test_what_cannot_be_compared_is_refused(make_run: MakeRun, rows_of: RowsOf, tmp_path: Path) -> None:
    for ids, message in ((["a"], "two or more"), (["a", "b", "a"], "names a twice")):
        with pytest.raises(ConfigError, match=message):
            refuse_one_judge(ids)
    failed = [
        replace(row, judgement=None, failure=Failure("generate", "context_too_long"))
        for row in rows_of("ifbench", 2, 0)
    ]
    with pytest.raises(ConfigError, match="no generated user turn"):
        read_panel(read_runs([make_run("none", failed)]))
    with open_store(tmp_path / "out"), pytest.raises(ConfigError, match="another process is using"):
        open_store(tmp_path / "out")
