"""The reward of a user turn: the judge's decision, and None without one."""

from __future__ import annotations

import pytest

from eval.dialogue import Dialogue, Failure, Judgement, Message
from train.rewards.followup import TURN, reward


def judged(label: str, genuine: bool) -> Dialogue:
    return Dialogue("sums", (Message("user", "Why?"),), judgement=Judgement(label, genuine, "fake"))


@pytest.mark.parametrize(
    ("label", "genuine", "expected"),
    [
        ("genuine_followup", True, {"genuine": 1.0, "specific": 1.0, "mix": 1.0}),
        ("generic_followup", True, {"genuine": 1.0, "specific": 0.0, "mix": 0.5}),
        ("previous_turn_restate", True, {"genuine": 1.0, "specific": 0.0, "mix": 0.5}),
        ("new_task_prompt", False, {"genuine": 0.0, "specific": 0.0, "mix": 0.0}),
    ],
)
def test_each_rate(label: str, genuine: bool, expected: dict[str, float]) -> None:
    assert {rate: reward(judged(label, genuine), rate=rate) for rate in expected} == expected
    assert reward(judged(label, genuine)) == expected["genuine"]


def test_what_was_not_judged_is_unknown_and_not_0() -> None:
    failed = Dialogue("sums", (Message("user", "Why?"),), failure=Failure("judge", "deadline"))
    assert reward(failed) is None
    assert reward(Dialogue("sums", (Message("user", "Why?"),))) is None


def test_it_is_for_the_user_turn() -> None:
    assert TURN == "user"
