"""Judging with a deadline: late rewards are unknown, and no judge holds up a run."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Generator, Iterable

import pytest

from eval.config import ConfigError
from eval.dialogue import Dialogue, Failure, Judgement, Message
from train import reward_judge
from train.preemption import PREEMPTION, Preempted
from train.reward_judge import RewardJudge


class Fake:
    """A judge that does with each dialogue what it is told."""

    id, measured, cost_bound = "fake", {}, 0.0

    def __init__(self, decide: Callable[[Dialogue], Judgement | Failure], backwards: bool = False) -> None:
        self.decide, self.backwards = decide, backwards
        self.asked: list[str] = []

    def judge(self, dialogues: Iterable[Dialogue]) -> Generator[tuple[Dialogue, Judgement | Failure], None, None]:
        dialogues = list(dialogues)
        for dialogue in reversed(dialogues) if self.backwards else dialogues:
            self.asked.append(dialogue.messages[-1].text)
            yield dialogue, self.decide(dialogue)


def spoken(turn: str) -> Dialogue:
    said = (Message("user", "Add 7 to 5."), Message("assistant", "12"), Message("user", turn))
    return Dialogue("sums", said, id="the same")


def yes(dialogue: Dialogue) -> Judgement:
    return Judgement("genuine_followup", True, "fake", reply=dialogue.messages[-1].text)


def test_each_dialogue_gets_its_own_decision_whatever_the_order() -> None:
    """Also where several have one id, as the episodes of a prompt do."""
    dialogues = [spoken(turn) for turn in ("a", "b", "a", "c")]
    for backwards in (False, True):
        judged = RewardJudge(Fake(yes, backwards), 10.0).decide(dialogues)
        assert [dialogue.judgement.reply for dialogue in judged] == ["a", "b", "a", "c"]
        assert {dialogue.id for dialogue in judged} == {"the same"}


def test_a_failure_of_the_judge_is_the_failure_of_the_dialogue() -> None:
    failed = RewardJudge(Fake(lambda dialogue: Failure("judge", "refusal")), 10.0).decide([spoken("a")])
    assert failed[0].failure == Failure("judge", "refusal") and failed[0].judgement is None


def test_what_is_late_is_unknown_and_what_was_in_time_is_kept() -> None:
    go_on = threading.Event()

    def hang_on_b(dialogue: Dialogue) -> Judgement:
        if dialogue.messages[-1].text == "b":
            assert go_on.wait(60)
        return yes(dialogue)

    fake = Fake(hang_on_b)
    judge = RewardJudge(fake, 0.3)
    first, second, third = judge.decide([spoken("a"), spoken("b"), spoken("c")])
    assert first.judgement is not None
    assert second.failure == third.failure and second.failure.kind == "deadline"
    # While the judge hangs, the next step is unknown too, and the judge is not asked about it any more.
    assert judge.decide([spoken("d")])[0].failure.kind == "deadline"
    go_on.set()
    assert RewardJudge(fake, 10.0).decide([spoken("e")])[0].judgement is not None
    assert "d" not in fake.asked and "c" not in fake.asked


@pytest.mark.parametrize("number", [signal.SIGUSR1, signal.SIGTERM])
@pytest.mark.parametrize("before", [True, False])
def test_a_signal_that_ends_the_job_shortens_the_wait(monkeypatch, number: int, before: bool) -> None:
    """The step must end and its checkpoint be saved in the time that is left, which a judge could take all of."""
    monkeypatch.setattr(PREEMPTION, "number", 0)  # restored after the test
    monkeypatch.setattr(reward_judge, "AFTER_SIGNAL_S", 0.5)
    never = threading.Event()

    def hang_on_b(dialogue: Dialogue) -> Judgement:
        if dialogue.messages[-1].text == "b":
            never.wait(60)
        return yes(dialogue)

    with pytest.raises(Preempted), PREEMPTION.listening(), PREEMPTION.interruptible(False):
        sending = threading.Timer(0.0 if before else 0.3, lambda: os.kill(os.getpid(), number))
        sending.start()
        if before:
            sending.join()
        start = time.monotonic()
        first, second = RewardJudge(Fake(hang_on_b), 120.0).decide([spoken("a"), spoken("b")])
        took = time.monotonic() - start
    never.set()
    assert 0.4 < took < 10 and first.judgement is not None
    assert second.failure.kind == "deadline" and "signal" in second.failure.detail


def test_a_signal_does_not_lengthen_the_wait(monkeypatch) -> None:
    monkeypatch.setattr(PREEMPTION, "number", int(signal.SIGUSR1))
    never = threading.Event()
    judge = RewardJudge(Fake(lambda dialogue: never.wait(60) and yes(dialogue)), 0.2)
    start = time.monotonic()
    assert judge.decide([spoken("a")])[0].failure.detail == "not judged within 0.2 s"
    assert time.monotonic() - start < 5
    never.set()


def test_an_error_of_the_judge_is_raised_where_it_was_asked() -> None:
    def refuse(dialogue: Dialogue) -> Judgement:
        raise ConfigError("the key is refused")

    with pytest.raises(ConfigError, match="the key is refused"):
        RewardJudge(Fake(refuse), 10.0).decide([spoken("a")])


def test_nothing_to_judge_is_nothing() -> None:
    assert RewardJudge(Fake(yes), 10.0).decide([]) == []
