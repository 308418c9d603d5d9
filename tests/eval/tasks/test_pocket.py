"""The pocket data: answers recomputed, constraints checked, variety of the conversations."""

from __future__ import annotations

import ast
import json
import operator
import re
from collections import Counter
from fractions import Fraction
from importlib.resources import files
from typing import Any

import pytest

from eval.dialogue import Message
from eval.grading.answers import read_number
from eval.grading.constraints import CHECKERS
from eval.tasks import pocket

OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
}
IN_WORDS = {"1", "2", "3", "4", "5", "24", "60", "100", "1000", "1.25"}
"""Numbers that a question may give in words: "a quarter", "weekdays", "both", "25% more", hours of 60 minutes."""
JUNK = ("ok", "As an AI, I, the model - well", "Sure! Here is the answer, as you asked.\n\nHope it helps, friend.")


def _data(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (files("eval.tasks") / name).read_text("utf-8").splitlines()]


MATH = _data("pocket_math.jsonl")
INSTRUCTIONS = _data("pocket_instructions.jsonl")
CONVERSATIONS = _data("pocket_conversations.jsonl")


def compute(expression: str) -> Fraction:
    """The exact value of an arithmetic expression; anything else in it is an error."""
    return _evaluate(ast.parse(expression, mode="eval").body, expression)


def _evaluate(node: ast.expr, source: str) -> Fraction:
    if isinstance(node, ast.Constant):
        return Fraction(ast.get_source_segment(source, node) or "")
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_evaluate(node.operand, source)
    if isinstance(node, ast.BinOp):
        return Fraction(OPERATORS[type(node.op)](_evaluate(node.left, source), _evaluate(node.right, source)))
    raise ValueError(f"{ast.dump(node)} is not arithmetic")


def test_there_are_forty_problems_thirty_instructions_and_thirty_conversations() -> None:
    counts = Counter(dialogue.task for dialogue in pocket.load())
    assert counts == {"pocket_math": 40, "pocket_instructions": 30, "pocket_conversations": 30}


def test_a_limit_holds_for_each_part_and_only_adds() -> None:
    few, more = pocket.load(3, seed=5), pocket.load(8, seed=5)
    assert Counter(d.task for d in few) == {"pocket_math": 3, "pocket_instructions": 3, "pocket_conversations": 3}
    assert {d.id for d in few} < {d.id for d in more}
    assert few != pocket.load(3, seed=6)


def test_ids_are_unique_and_no_row_is_skipped() -> None:
    dialogues = pocket.load()
    assert len({dialogue.id for dialogue in dialogues}) == len(dialogues)
    assert {dialogue.state for dialogue in dialogues} == {"ok"}


@pytest.mark.parametrize("row", MATH, ids=lambda row: row["question"][:30])
def test_the_reference_is_the_value_of_the_expression_and_of_the_solution(row: dict) -> None:
    assert compute(row["expression"]) == Fraction(row["reference"]) == read_number(row["solution"])


@pytest.mark.parametrize("row", MATH, ids=lambda row: row["question"][:30])
def test_every_equation_in_the_solution_holds(row: dict) -> None:
    equations = re.findall(r"([-\d(][\d.+\-*/() ]*) = (-?[\d.]*\d)", row["solution"])
    assert equations
    for left, right in equations:
        assert compute(left) == Fraction(right), f"{left} = {right}"


@pytest.mark.parametrize("row", MATH, ids=lambda row: row["question"][:30])
def test_the_expression_uses_the_numbers_of_the_question(row: dict) -> None:
    given = {number.lstrip("0") for number in re.findall(r"\d+(?:\.\d+)?", row["question"].replace(",", ""))}
    used = set(re.findall(r"\d+(?:\.\d+)?", row["expression"]))
    assert used - IN_WORDS <= given


def test_a_problem_is_asked_and_graded_like_gsm8k() -> None:
    dialogues = [dialogue for dialogue in pocket.load() if dialogue.task == "pocket_math"]
    assert dialogues
    for dialogue in dialogues:
        assert dialogue.messages[-1].text.endswith("#### <number>")
        assert pocket.check(dialogue) is None
        right = Message("assistant", f"#### {dialogue.reference}", finish="stop")
        assert pocket.check(dialogue.says(right)) is True
        assert pocket.check(dialogue.says(Message("assistant", "#### 123456789", finish="stop"))) is False


def test_a_good_response_passes_and_junk_or_a_truncated_one_fails() -> None:
    good = {row["prompt"]: row["good"] for row in INSTRUCTIONS}
    dialogues = [dialogue for dialogue in pocket.load() if dialogue.task == "pocket_instructions"]
    assert dialogues
    for dialogue in dialogues:
        response = good[dialogue.messages[-1].text]
        assert pocket.check(dialogue.says(Message("assistant", response, finish="stop"))) is True
        assert pocket.check(dialogue.says(Message("assistant", response, finish="length"))) is False
        for junk in JUNK:
            assert pocket.check(dialogue.says(Message("assistant", junk, finish="stop"))) is False
        assert pocket.check(dialogue.says(Message("assistant", "", finish="stop"))) is False
        assert pocket.check(dialogue) is None
        assert "good" not in dialogue.meta


def test_every_kind_of_constraint_is_used() -> None:
    assert {constraint["kind"] for row in INSTRUCTIONS for constraint in row["constraints"]} == set(CHECKERS)


def test_conversations_are_held_out_and_not_graded() -> None:
    dialogues = [dialogue for dialogue in pocket.load() if dialogue.task == "pocket_conversations"]
    assert dialogues
    for dialogue in dialogues:
        roles = [message.role for message in dialogue.messages if message.role != "system"]
        assert roles == ["user", "assistant"] * (len(roles) // 2)
        assert pocket.check(dialogue) is None


def test_conversations_vary_in_length_turns_and_ending() -> None:
    last = [row["messages"][-1]["content"] for row in CONVERSATIONS]
    assert sum(len(text.split()) >= 200 for text in last) >= 4
    assert sum("\n" not in text and len(text.split()) <= 20 for text in last) >= 4
    assert 3 <= sum(text.endswith("?") for text in last) <= 10
    assert sum(row["messages"][0]["role"] == "system" for row in CONVERSATIONS) >= 3
    assert sum(len(row["messages"]) > 3 for row in CONVERSATIONS) >= 5


def test_no_text_has_special_tokens_or_surrounding_white_space() -> None:
    for dialogue in pocket.load():
        for message in dialogue.messages:
            assert not re.search(r"<\|[^>]*\|>|</?think>", message.text)
            assert message.text == message.text.strip() != ""
