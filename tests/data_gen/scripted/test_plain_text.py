"""A response is split into its sentences, without markup, code, tables and headings."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_gen.scripted.plain_text import sentences_of


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("**Wipe** it, *slowly*. Then `rm` it.", ["Wipe it, slowly.", "Then rm it."]),
        ("2 * 3 * 4 = 24 and 10*12=120 with *args", ["2 * 3 * 4 = 24 and 10*12=120 with *args"]),
        ("1. **Wait.** It dries.\n2. Paint it", ["Wait.", "It dries.", "Paint it"]),
        ("### Steps\n**Step 1: Area**\nIt is 5 m wide.\n---", ["It is 5 m wide."]),
        ("Run this:\n```sh\nmake all. Now\n```\nIt takes long.", ["Run this:", "It takes long."]),
        ("It begins.\n```\nand never ends. Really", ["It begins."]),
        ("| a | b |\n|---|---|\n| 1 | 2 |\nThat is all.", ["That is all."]),
        ('He said: "You miss him. Do." Then he left.', ['He said: "You miss him.', 'Do."', "Then he left."]),
        ("Dear Ms. Farkas, it is 5 p.m. already.", ["Dear Ms. Farkas, it is 5 p.m. already."]),
        (r"\[ 35 \times 1.6 = 56 \text{ m} \]", ["35 \u00d7 1.6 = 56  m"]),
        ("\\sqrt{4} = 2\n\\frac{224}{14} = 16", ["224 / 14 = 16"]),
    ],
)
def test_markup_code_tables_and_headings_are_removed(text: str, sentences: list[str]) -> None:
    assert sentences_of(text) == sentences


@pytest.mark.parametrize(
    "last", ["#### 42", "The answer is 42.", "So the answer is 42.", "Answer: 42", "**Final answer: 42**", "#### 42 "]
)
def test_every_form_of_an_answer_line_becomes_the_same_sentence(last: str) -> None:
    assert sentences_of(f"So 6 * 7 = 42.\n{last}") == ["So 6 * 7 = 42.", "The answer is 42."]


@given(st.text(alphabet='ab*_`#|\\\n .?!"1=-[]{}', max_size=200))
def test_any_text_is_accepted_and_no_sentence_is_blank(text: str) -> None:
    for sentence in sentences_of(text):
        assert sentence == sentence.strip() and any(char.isalnum() for char in sentence)
