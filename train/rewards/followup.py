"""Whether the user's turn reacts to the answer, as the judge that rewards has it. Source: arXiv 2604.02315.

A content-free question that fits any answer is genuine and not specific (`eval/labels.py`): a policy that is paid for
the first alone learns one such question.
"""

from __future__ import annotations

from typing import Literal

from eval.dialogue import Dialogue
from eval.labels import SPECIFIC

TURN = "user"


def reward(dialogue: Dialogue, *, rate: Literal["genuine", "specific", "mix"] = "genuine") -> float | None:
    """1 or 0 for the judge's yes or no, or for its label; `mix` is the mean of both. None: not judged."""
    judgement = dialogue.judgement
    if judgement is None:
        return None
    genuine, specific = float(judgement.genuine), float(judgement.label in SPECIFIC)
    return {"genuine": genuine, "specific": specific, "mix": (genuine + specific) / 2}[rate]
