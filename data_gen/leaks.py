"""The leak filter: rejects seeds and generated turns that contain text of an evaluation row.

Details name the row and never quote it: some data sets must not be published in plain text.
"""

from __future__ import annotations

from data_gen.filter_context import Context, Reason
from data_gen.ngram_index import NgramIndex
from eval.dialogue import Dialogue
from eval.grading.answers import INSTRUCTION

LEAK = "leak"


def leak(dialogue: Dialogue, context: Context) -> Reason | None:
    """A turn after the seed shares 8 consecutive words with an evaluation row."""
    return leak_in(dialogue, dialogue.meta["seed_turns"], context.evaluation)


def leak_in(dialogue: Dialogue, start: int, evaluation: NgramIndex) -> Reason | None:
    """As `leak`, for the turns from index `start`.

    A turn is split at the instruction of our own prompts, so no 8-gram includes or crosses it.
    """
    for turn, message in enumerate(dialogue.messages[start:], start):
        for text in message.text.split(INSTRUCTION):
            if found := evaluation.find(text):
                return Reason(LEAK, f"message {turn}, from word {found.word}: 8 words as in {found.row}")
    return None
