"""The order of the options, the published prompt, and the letter extracted from an answer."""

from __future__ import annotations

from collections import Counter

import pytest

from eval.dialogue import Dialogue, Message
from eval.grading.multiple_choice import arrange, ask, grade_letter, read_letter

WRONG = ["w1", "w2", "w3"]


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("Answer: C", "C"),
        ("Answer: **C**", "C"),
        ("**Answer:** B", "B"),
        ("**Answer**: b", "B"),
        ("Answer: $C$", "C"),
        ("Answer: 'C'", "C"),
        ("Answer:\n\n**D)** 5 m/s", "D"),
        ("ANSWER = [A]", "A"),
        ("Answer\uff1a C", "C"),
        ("Final Answer: option (B)", "B"),
        ("The correct answer is: C) 14 kJ", "C"),
        ("The correct option is (D).", "D"),
        ("The answer would be C", "C"),
        ("Answer: A because it binds", "A"),
        ("Answer: C, because A and B are wrong", "C"),
        (r"\boxed{B}", "B"),
        (r"Answer: $\boxed{\textbf{(A)}}$", "A"),
        (r"Thus $\boxed{\text{C}}$. A and D are ruled out by symmetry.", "C"),
        ("Answer: A\nOn reflection,\nAnswer: B", "B"),
        ("End with 'Answer: $LETTER'.\nAnswer: D", "D"),
        ("The answer is A. Then the question asks for the answer: Carbon", "A"),
    ],
)
def test_the_marked_letter_is_read(text: str, letter: str) -> None:
    assert read_letter(text) == letter


@pytest.mark.parametrize(
    "text",
    [
        "",
        "C",
        "I pick C, since A is wrong.",
        "Answer:",
        "Answer: E",
        r"\boxed{F}",
        "Answer: A\nNo: Answer: E",
        "Answer: Carbon dioxide",
        "Answer: D-glucose",
        "Answer: A mixture of both",
        "The answer is a mixture",
        "The answer is not A",
        "Answer: A or B",
        "Answer: A, B",
        "Answer: (A) and (C)",
        "Answer: $LETTER",
        "As an AI, the answer I give is beyond doubt",
        r"\boxed{42}",
    ],
)
def test_no_letter_is_read_where_none_is_given(text: str) -> None:
    assert read_letter(text) is None


def test_a_looping_answer_is_read_from_its_end_in_bounded_time() -> None:
    assert read_letter("Answer: ((((( " * 100_000 + "\nAnswer: B") == "B"
    assert read_letter("answer is " * 200_000) is None
    assert read_letter("Answer: B" + " and so on" * 10_000) is None, "beyond the characters that are read"


def test_the_order_depends_only_on_the_key_and_spreads_the_correct_option() -> None:
    spread = Counter(arrange("right", WRONG, key=f"rec{n}").right for n in range(1000))
    assert set(spread) == set("ABCD") and all(200 < count < 300 for count in spread.values())
    assert arrange("right", WRONG, key="rec1") == arrange("right", WRONG, key="rec1")
    assert len({arrange("right", WRONG, key=f"rec{n}").options for n in range(500)}) == 24


def test_the_letter_is_that_of_the_correct_option_and_none_is_lost() -> None:
    for n in range(50):
        choices = arrange("right", WRONG, key=f"rec{n}")
        assert sorted(choices.options) == ["right", "w1", "w2", "w3"]
        assert choices.options["ABCD".index(choices.right)] == "right"


def test_options_equal_to_the_correct_one_are_also_correct() -> None:
    choices = arrange("5 m", ["4 m", " 5 m\n", "4 m"], key="rec")
    assert [choices.options["ABCD".index(letter)].strip() for letter in choices.right] == ["5 m", "5 m"]


@pytest.mark.parametrize(
    "last", ["All of the above", "None of the above.", "Neither of these", "none of the other options is correct"]
)
def test_an_option_about_all_others_comes_last(last: str) -> None:
    orders = {arrange("right", ["w1", last, "w3"], key=f"rec{n}").options for n in range(60)}
    assert {order[-1] for order in orders} == {last} and len(orders) == 6
    assert {arrange(last, WRONG, key=f"rec{n}").right for n in range(9)} == {"D"}


@pytest.mark.parametrize(
    "option", ["Both A and B", "A and C", "(a) and (b)", "Options A, B and C are correct", "only B", "the first two"]
)
def test_options_that_others_refer_to_by_position_keep_it(option: str) -> None:
    for n in range(9):
        assert arrange("right", ["w1", option, "w3"], key=f"rec{n}").options == ("right", "w1", "w3", option)


@pytest.mark.parametrize("option", ["A and B rings fuse", "A = water, B = salt", "Vitamin C", "All carbons are equal"])
def test_options_that_only_contain_letters_are_shuffled(option: str) -> None:
    orders = {arrange("right", ["w1", option, "w3"], key=f"rec{n}").options for n in range(400)}
    assert len(orders) == 24


def test_the_prompt_is_the_published_one() -> None:
    assert ask("Why?\n", ["a", "b", "c", " d"]) == (
        "Answer the following multiple choice question. The last line of your response should be of the following "
        "format: 'Answer: $LETTER' (without quotes) where LETTER is one of ABCD. Think step by step before answering."
        "\n\nWhy?\n\n\nA) a\nB) b\nC) c\nD)  d"
    )


@pytest.mark.parametrize(
    ("text", "finish", "reference", "right"),
    [
        ("Answer: B", "stop", "B", True),
        ("Answer: C", "stop", "B", False),
        ("Answer: D", "stop", "BD", True),
        ("Who knows?", "stop", "B", False),
        ("", "stop", "B", False),
        ("Answer: B", "length", "B", False),
        ("Answer: B", "stop", None, None),
    ],
)
def test_an_answer_is_graded(text: str, finish: str, reference: str | None, right: bool | None) -> None:
    query = Dialogue("toy", (Message("user", "Why?"),), reference=reference)
    assert grade_letter(query) is None
    assert grade_letter(query.says(Message("assistant", text, "model", finish))) is right  # type: ignore[arg-type]
