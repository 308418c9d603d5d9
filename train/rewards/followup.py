"""Whether the user turn reacts to the answer, as decided by the reward judge. Source: arXiv 2604.02315.

A content-free question that fits any answer is genuine but not specific (`eval/labels.py`): a policy that is rewarded
only for genuine turns learns one such question.
"""

from __future__ import annotations

from typing import Literal

from eval.dialogue import Dialogue
from eval.labels import SPECIFIC

TURN = "user"


def reward(dialogue: Dialogue, *, rate: Literal["genuine", "specific", "mix"] = "genuine") -> float | None:
    """1 or 0: `genuine` from the judge's decision, `specific` from its label, `mix` their mean. None: not judged."""
    judgement = dialogue.judgement
    if judgement is None:
        return None
    genuine, specific = float(judgement.genuine), float(judgement.label in SPECIFIC)
    return {"genuine": genuine, "specific": specific, "mix": (genuine + specific) / 2}[rate]
