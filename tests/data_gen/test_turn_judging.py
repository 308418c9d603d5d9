"""Every generated user turn is judged once with its context, and failures are retried."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from pathlib import Path
from typing import Any

import pytest

from data_gen.turn_judging import judge_turns, with_verdicts
from eval.dialogue import Dialogue, Failure, Judgement
from eval.progress import silent
from eval.rows import RowStore

Make = Callable[..., Any]


class Recorder:
    """Says genuine, remembers what it was shown, and fails on the texts in `fails`."""

    cost_bound = 0.0

    def __init__(self, id: str = "recorder-1", fails: tuple[str, ...] = ()) -> None:
        self.id, self.fails = id, fails
        self.measured: dict[str, Any] = {}
        self.shown: list[list[str]] = []

    def judge(self, dialogues: Iterable[Dialogue]) -> Generator[tuple[Dialogue, Judgement | Failure], None, None]:
        for dialogue in reversed(list(dialogues)):
            texts = [message.text for message in dialogue.messages]
            self.shown.append(texts)
            failure = Failure("judge", "timeout", "no reply")
            verdict = Judgement("genuine_followup", True, self.id)
            yield dialogue, failure if texts[-1] in self.fails else verdict


@pytest.fixture
def conversation(make_conversation: Make) -> Dialogue:
    return make_conversation("Why?", "So.", "And then?", "Then that.", styles=("extend", "acknowledge"))


def test_each_user_turn_is_judged_with_its_context(conversation: Dialogue, tmp_path: Path) -> None:
    judge = Recorder()
    with RowStore(tmp_path / "judged.jsonl") as store:
        judge_turns([conversation], judge, store, silent)
        (*_, shorter) = sorted(judge.shown, key=len, reverse=True)
        assert shorter == [message.text for message in conversation.messages[:3]]
        assert len(judge.shown) == 2 and judge.shown[0][-1] == "And then?"
        verdicts = with_verdicts(conversation, judge, store)
    assert verdicts.meta["judged"] == [
        {"turn": 2, "label": "genuine_followup", "genuine": True, "failure": None},
        {"turn": 4, "label": "genuine_followup", "genuine": True, "failure": None},
    ]
    assert verdicts.meta["judge"] == "recorder-1"
    assert (verdicts.id, verdicts.messages) == (conversation.id, conversation.messages)


def test_verdicts_are_cached_and_failures_are_retried(conversation: Dialogue, tmp_path: Path) -> None:
    with RowStore(tmp_path / "judged.jsonl") as store:
        judge_turns([conversation], Recorder(fails=("Why?",)), store, silent)
        failed = with_verdicts(conversation, Recorder(), store).meta["judged"][0]
        assert failed == {"turn": 2, "label": None, "genuine": None, "failure": "timeout"}
    with RowStore(tmp_path / "judged.jsonl") as store:
        judge_turns([conversation], again := Recorder(), store, silent)
        assert [texts[-1] for texts in again.shown] == ["Why?"]
        assert with_verdicts(conversation, again, store).meta["judged"][0]["genuine"] is True
        judge_turns([conversation], other := Recorder("recorder-2"), store, silent)
        assert len(other.shown) == 2, "another judge has other verdicts"
