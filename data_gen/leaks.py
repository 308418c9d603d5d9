"""No text of a row that models are measured on: not in a seed, not in a generated turn.

Details name the row and never quote it: some sets may not stand in plain text anywhere.
"""

from __future__ import annotations

from data_gen.filter_context import Context, Reason
from data_gen.ngram_index import NgramIndex
from eval.dialogue import Dialogue
from eval.grading.answers import INSTRUCTION

LEAK = "leak"


def leak(dialogue: Dialogue, context: Context) -> Reason | None:
    """A turn after the seed shares 8 words in a row with a row of an evaluation."""
    return leak_in(dialogue, dialogue.meta["seed_turns"], context.evaluation)


def leak_in(dialogue: Dialogue, start: int, evaluation: NgramIndex) -> Reason | None:
    """As `leak`, of the turns from `start` on.

    The instruction of our own prompts, and what runs into it, is no text of a row: it separates two texts.
    """
    for turn, message in enumerate(dialogue.messages[start:], start):
        for text in message.text.split(INSTRUCTION):
            if found := evaluation.find(text):
                return Reason(LEAK, f"message {turn}, from word {found.word}: 8 words as in {found.row}")
    return None
