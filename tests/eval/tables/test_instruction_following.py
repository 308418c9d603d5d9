"""The four scores of IFEval and IFBench: recomputed by hand, and refused for answers that were changed."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from eval.dialogue import Dialogue, Failure, Message
from eval.table import Table
from eval.tables.instruction_following import build
from eval.tasks import ifbench, ifeval

WORDS = {"id": "length_constraints:number_words", "kwargs": {"relation": "less than", "num_words": 3}}
NO_COMMA = {"id": "punctuation:no_comma", "kwargs": {}}
RATIO = {"id": "ratio:sentence_type", "kwargs": {}}
CHECKS = {"ifeval": ifeval.check, "ifbench": ifbench.check}


def row(task: str, text: str | None, *instructions: dict, number: int = 0) -> Dialogue:
    """A graded row with a user turn, or one whose answer was never made."""
    query = Dialogue(task, (Message("user", "Write."),), meta={"instructions": list(instructions), "key": str(number)})
    if text is None:
        return replace(query, failure=Failure("generate", "context_too_long"))
    answered = query.says(Message("assistant", text, "model", "stop"))
    return replace(answered.says(Message("user", "So, what, now?", "model")), correct=CHECKS[task](answered))


@pytest.fixture
def rows(nltk_data: None) -> list[Dialogue]:
    """Five rows of IFEval, two of IFBench, one of another task."""
    return [
        row("ifeval", "so short", WORDS, NO_COMMA),
        row("ifeval", "Sure, here:\nso short", WORDS, NO_COMMA),
        row("ifeval", "this, is far, too long", WORDS, NO_COMMA),
        row("ifeval", "", WORDS, NO_COMMA),
        row("ifeval", None, WORDS, NO_COMMA),
        row("ifbench", "What a day!", RATIO),
        row("ifbench", "One. Two. Three?", RATIO),
        Dialogue("gsm8k", (Message("user", "2 + 2?"),)),
    ]


def shares(table: Table, column: str) -> list[str]:
    """Successes of n, per measure."""
    place = table.columns.index(column)
    return [f"{cells[place].successes}/{cells[place].n}" for cells in table.rows[:-1]]


def test_the_four_scores_are_those_counted_by_hand(rows: list[Dialogue]) -> None:
    (table,) = build(rows)
    assert table.columns == (
        "measure",
        "IFEval, published",
        "IFEval, corrected",
        "IFBench, published",
        "IFBench, corrected",
    )
    assert [cells[0].text for cells in table.rows] == [
        "prompt-level strict %",
        "prompt-level loose %",
        "instruction-level strict %",
        "instruction-level loose %",
        "N",
    ]
    assert shares(table, "IFEval, published") == ["1/4", "2/4", "2/8", "4/8"]
    assert shares(table, "IFBench, published") == ["2/2", "2/2", "2/2", "2/2"]
    assert shares(table, "IFBench, corrected") == ["1/2", "1/2", "1/2", "1/2"]
    assert [cell.text for cell in table.rows[-1]] == ["N", "5", "5", "2", "2"]


def test_equal_rows_in_any_order_give_an_equal_table(rows: list[Dialogue]) -> None:
    assert build(rows[::-1]) == build(rows)


def test_other_tasks_alone_give_no_table(rows: list[Dialogue]) -> None:
    assert build(rows[-1:]) == []


def test_an_answer_that_was_changed_after_its_grade_is_refused(rows: list[Dialogue]) -> None:
    query, _, turn = rows[0].messages
    changed = replace(rows[0], messages=(query, Message("assistant", "so short, no?", "model", "stop"), turn))
    with pytest.raises(ValueError, match=re.escape(f"ifeval row {changed.id} was graded True, and its answer is now")):
        build([changed])
