"""The numeric answer reader: what counts as the answer, what does not, and bounded time on any text."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.dialogue import Dialogue, Message
from eval.grading.answers import LONGEST_ANSWER, ask, grade_number, read_number

READINGS = {
    # the number starts and ends with a digit; a comma or a period of the sentence is no part of it
    "So the florist keeps 40 of the 55 roses, all of them red.": 55,
    "She pays 120, he pays 95, and that is it, folks.": 95,
    "That leaves 64 stamps, as wanted, you see.": 64,
    "By May the depot had 31,250 tyres.": 31250,
    "Total: 1,234,567": 1234567,
    "It grows to 1,500.75 units.": Fraction("1500.75"),
    "The pupils got 3,4,5 points": 5,
    # decorations
    "#### $18": 18,
    "#### 18.00": 18,
    "#### 18.": 18,
    "#### 70,000": 70000,
    "#### 20%": 20,
    "#### **42**": 42,
    "####\n42": 42,
    "####42 apples": 42,
    "#### €7": 7,
    # signs
    "#### -3": -3,
    "#### -$3": -3,
    "#### $-3": -3,
    "#### \u22123": -3,
    "#### \u20133": -3,
    "-$ 3": -3,
    "pages 3\u20135": 5,
    "The balance is -420 dollars": -420,
    "see pages 12-15": 15,
    "10-7": 7,
    "- 18": 18,
    # the last marker
    "Like this: 3+1=4, so\n#### 4\nYours: 6*8=48, so\n#### 48": 48,
    "The answer is 5.\n\nWait, I forgot one. The answer is 6.": 6,
    "Answer: 3\nAnswer: 9": 9,
    "\\boxed{4} was wrong, so \\boxed{5}": 5,
    # "the answer is" and "Answer:"
    "The answer is 26 chapters. I counted them 4 times.": 26,
    "the answer is: **18**, which I checked 3 times": 18,
    "The final answer is $1,080.": 1080,
    "ANSWER: $23": 23,
    "**Answer:** 18": 18,
    "**Answer**: 18": 18,
    "Answer:\n\n18": 18,
    "The answer would be 18. That took 2 minutes.": 18,
    "The answer is that each of the 3 children gets 6 sweets. There are 2 left.": 6,
    "The answer is 5 + 3 = 8.": 8,
    "The answer is x = 11 after 2 steps": 11,
    "Answer: 96 / 4 = 24 apples": 24,
    "Answer: $96 \\div 4 = 24$": 24,
    "Answer: **5** * **3** = **15**": 15,
    "The answer is $18/hour for 3 people": 18,
    # boxes
    "\\[\\boxed{18}\\]": 18,
    "$\\boxed{\\text{18 dollars}}$ after 3 tries": 18,
    "\\boxed{70,000} in 2 years": 70000,
    "\\boxed{70{,}000}": 70000,
    "\\boxed{70,\\!000}": 70000,
    "\\boxed{\\$18} and 3": 18,
    "\\boxed{20\\%} of 50": 20,
    "\\boxed{x = -3} (2 steps)": -3,
    "\\boxed{\\frac{3}{2}} of 12": Fraction(3, 2),
    "\\boxed{\\mathbf{18}} 3": 18,
    "\\boxed {18} 3": 18,
    "cut off: \\boxed{18": 18,
    # headings and echoes are no answers
    "#### Step 1\nAdd: 4+4=8\n#### Step 2\nHalve: 8/2=4\nThat makes 4 in all.": 4,
    "#### 1. Add up\n5 and 6\n#### 2. Result\nIt is 11": 11,
    "#### <number>\nThe total comes to 12": 12,
    # the last number otherwise
    "5 apples and 3 pears": 3,
    "He eats 3/4": Fraction(3, 4),
    "The area is 18 cm^2.": 18,
    "That is $18 \\text{ m}^{2}$": 18,
    "It is 2^10 = 1024": 1024,
    "It weighs .5 kg": Fraction(1, 2),
    "\u0661\u0662": 12,
}


@pytest.mark.parametrize("text", READINGS)
def test_the_number_given_as_the_answer_is_read(text: str) -> None:
    assert read_number(text) == READINGS[text]


@pytest.mark.parametrize(
    "text", ["", "   ", ",", "$ , .", "####", "#### ,", "no idea", "\\boxed{}", "Answer: none", "5/0"]
)
def test_a_text_without_a_number_has_no_answer(text: str) -> None:
    assert read_number(text) is None


@given(st.integers(-(10**9), 10**9), st.sampled_from(["#### {}", "Answer: {}", "\\boxed{{{}}}", "The answer is {}."]))
def test_every_integer_is_read_back_with_and_without_commas(number: int, form: str) -> None:
    for written in (str(number), f"{number:,}", f"{number}.00"):
        assert read_number("First 7, then 8.\n" + form.format(written)) == number


@given(st.text(alphabet="0123456789,.-$%/=#{}\\ \nanswerboxd:", max_size=300))
def test_no_text_raises(text: str) -> None:
    number = read_number(text)
    assert number is None or isinstance(number, Fraction)


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "unit",
    [
        "1",
        "1,",
        "1,111",
        "1.",
        "1/",
        "-",
        "$",
        "#",
        "#### ",
        "####1",
        "{",
        "\\boxed{",
        "\\a",
        "\\frac{1}{",
        " ",
        "\n",
        "5 = ",
        "answer: ",
        "answer is ",
        "answer***",
        "is 1 + ",
        "**",
    ],
)
def test_a_degenerate_long_text_costs_bounded_time(unit: str) -> None:
    looping = unit * (2_000_000 // len(unit))
    assert read_number(looping + "\n#### 17") == 17
    read_number(looping)


def test_a_number_before_the_last_characters_is_not_read() -> None:
    assert read_number("#### 17" + " no" * LONGEST_ANSWER) is None


def _answered(text: str, reference: str | None = "18", finish: str = "stop") -> Dialogue:
    messages = (Message("user", "How many?"), Message("assistant", text, by="model", finish=finish))
    return Dialogue("math", messages, reference=reference)


def test_grading_compares_values_not_strings() -> None:
    assert grade_number(_answered("#### $18.00")) is True
    assert grade_number(_answered("#### 19")) is False
    assert grade_number(_answered("#### 1,800", reference="1800")) is True
    assert grade_number(_answered("#### -18")) is False


def test_an_answer_without_a_number_or_truncated_is_not_correct() -> None:
    assert grade_number(_answered("I do not know.")) is False
    assert grade_number(_answered("")) is False
    assert grade_number(_answered("#### 18", finish="length")) is False


def test_without_an_answer_or_reference_the_grade_is_unknown() -> None:
    assert grade_number(Dialogue("math", (Message("user", "How many?"),), reference="18")) is None
    assert grade_number(_answered("#### 18", reference=None)) is None
    assert grade_number(_answered("#### 18", reference="many")) is None


def test_the_last_assistant_turn_is_graded_and_not_a_user_turn_after_it() -> None:
    dialogue = _answered("#### 3").says(Message("user", "really?")).says(Message("assistant", "#### 18", finish="stop"))
    assert grade_number(dialogue.says(Message("user", "So not 5?"))) is True


def test_asking_keeps_the_question_and_states_the_form_of_the_answer() -> None:
    prompt = ask("  How many?\n")
    assert prompt.startswith("How many?\n\n") and prompt.endswith("#### <number>")
    assert read_number(prompt) is None
