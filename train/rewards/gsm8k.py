"""Whether the answer's number is correct, by the check that evaluates GSM8K. Source: `eval/tasks/gsm8k.py`."""

from __future__ import annotations

from eval.dialogue import Dialogue
from eval.tasks import gsm8k

TURN = "assistant"


def reward(dialogue: Dialogue) -> float | None:
    """1 for a correct answer, 0 for a wrong or truncated one; None without a numeric reference."""
    right = gsm8k.check(dialogue)
    return None if right is None else float(right)
