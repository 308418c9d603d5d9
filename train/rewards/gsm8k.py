"""Whether the answer's number is right: the check that evaluates GSM8K, as a number. Source: `eval/tasks/gsm8k.py`."""

from __future__ import annotations

from eval.dialogue import Dialogue
from eval.tasks import gsm8k

TURN = "assistant"


def reward(dialogue: Dialogue) -> float | None:
    """1 for a right answer, 0 for a wrong one and for one that was cut off; None where there is nothing to compare."""
    right = gsm8k.check(dialogue)
    return None if right is None else float(right)
