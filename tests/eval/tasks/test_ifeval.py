"""IFEval: the headline is prompt-level strict."""

from __future__ import annotations

import pytest

from eval.dialogue import Dialogue, Message
from eval.tasks import ifeval

pytestmark = pytest.mark.usefixtures("nltk_data")


@pytest.mark.parametrize(
    ("text", "right"),
    [("so short", True), ("so, short", False), ("Sure, so:\nso short", False), ("way too many words", False)],
)
def test_an_answer_is_right_when_it_follows_all_instructions_to_the_letter(text: str, right: bool) -> None:
    words = {"id": "length_constraints:number_words", "kwargs": {"relation": "less than", "num_words": 3}}
    meta = {"instructions": [words, {"id": "punctuation:no_comma", "kwargs": {}}]}
    dialogue = Dialogue("ifeval", (Message("user", "Write."),), meta=meta)
    assert ifeval.check(dialogue) is None
    assert ifeval.check(dialogue.says(Message("assistant", text, "model", "stop"))) is right
    assert ifeval.check(dialogue.says(Message("assistant", text, "model", "length"))) is right, "as the text stands"
