"""The reward of an answer is the evaluation's check."""

from __future__ import annotations

import pytest

from eval.dialogue import Dialogue, Message
from eval.tasks import gsm8k as task
from train.rewards.gsm8k import TURN, reward


def answered(text: str, reference: str | None = "12", finish: str = "stop") -> Dialogue:
    said = (Message("user", "Add 7 to 5."), Message("assistant", text, "tiny", finish), Message("user", "Why 13?"))
    return Dialogue("sums", said, reference=reference)


@pytest.mark.parametrize(
    ("dialogue", "expected"),
    [
        (answered("5 + 7 = 12\n#### 12"), 1.0),
        (answered("#### 13"), 0.0),
        (answered("I do not know."), 0.0),
        (answered("#### 12", finish="length"), 0.0),
        (answered("#### 12", reference=None), None),
        (answered("#### 12", reference="twelve"), None),
    ],
)
def test_it_is_the_check_as_a_number(dialogue: Dialogue, expected: float | None) -> None:
    assert reward(dialogue) == expected
    check = task.check(dialogue)
    assert check is None if expected is None else float(check) == expected


def test_it_is_for_the_answer() -> None:
    assert TURN == "assistant"
