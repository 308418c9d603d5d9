"""Each corrected checker fixes its fault, and agrees with the published one where that is correct."""

from __future__ import annotations

from typing import Any

import pytest

from eval.dialogue import Dialogue, Message
from eval.grading.instruction_following import verdicts

pytestmark = pytest.mark.usefixtures("nltk_data")

NTH = "length_constraints:nth_paragraph_first_word"
SENTENCES = "length_constraints:number_sentences"
FIRST = {"num_paragraphs": 2, "nth_paragraph": 1, "first_word": "hello"}
SECOND = {"num_paragraphs": 2, "nth_paragraph": 2, "first_word": "second"}
HASHES = {"letter": "#", "let_frequency": 3, "let_relation": "at least"}


def _strict(task: str, name: str, arguments: dict[str, Any], text: str) -> tuple[bool, bool]:
    """The verdict of the published checker and of the corrected one."""
    meta = {"instructions": [{"id": name, "kwargs": arguments}]}
    dialogue = Dialogue(task, (Message("user", "Write."), Message("assistant", text, "m")), meta=meta)
    (published,), (corrected,) = verdicts(dialogue) or [], verdicts(dialogue, corrected=True) or []
    assert published.loose >= published.strict and corrected.loose >= corrected.strict
    return published.strict, corrected.strict


@pytest.mark.parametrize(
    ("task", "name", "arguments", "text", "published", "corrected"),
    [
        ("ifeval", SENTENCES, {"num_sentences": 3, "relation": "less than"}, "One. Two. Three. Four.", False, False),
        ("ifeval", NTH, FIRST, "\n\nHello there.\n\nSecond part.", True, True),
        ("ifeval", NTH, SECOND, "First one.\n\nSecond one.", True, True),
        ("ifeval", NTH, SECOND, "First one.\n\n\n\nSecond one.", False, True),
        ("ifeval", NTH, SECOND, "First one.\n\nThird one.", False, False),
        ("ifbench", "ratio:sentence_type", {}, "One. Two. Three?", True, True),
        ("ifbench", "ratio:sentence_type", {}, "What a day!", True, False),
        ("ifbench", "ratio:sentence_balance", {}, "One. Two? Three!", True, True),
        ("ifbench", "ratio:sentence_balance", {}, "no sentence", True, False),
        ("ifeval", "keywords:letter_frequency", HASHES, "# a # b # c", None, True),
        ("ifeval", "keywords:letter_frequency", HASHES, "zzz " * 9, None, False),
        ("ifeval", "keywords:letter_frequency", {**HASHES, "letter": "Q"}, "qQq", True, True),
    ],
)
def test_published_and_corrected_verdicts(
    task: str, name: str, arguments: dict[str, Any], text: str, published: bool | None, corrected: bool
) -> None:
    found = _strict(task, name, arguments, text)
    assert found[1] is corrected
    assert published is None or found[0] is published, "the published checker draws a letter when there is none"
