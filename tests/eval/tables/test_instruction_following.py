"""The four scores of IFEval and IFBench from run folders: recomputed by hand, once for all runs that share answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from eval.dialogue import Dialogue, Failure, Judgement, Message
from eval.finished_runs import read_runs
from eval.table import Table
from eval.tables import instruction_following
from eval.tasks import ifbench, ifeval

MakeRun = Callable[..., Path]
WORDS = {"id": "length_constraints:number_words", "kwargs": {"relation": "less than", "num_words": 3}}
NO_COMMA = {"id": "punctuation:no_comma", "kwargs": {}}
RATIO = {"id": "ratio:sentence_type", "kwargs": {}}
CHECKS = {"ifeval": ifeval.check, "ifbench": ifbench.check}


def row(task: str, text: str | None, *instructions: dict, number: int = 0) -> Dialogue:
    """A graded and judged row, or one whose answer was never made."""
    meta = {"instructions": list(instructions), "key": str(number)}
    query = Dialogue(task, (Message("user", "Write."),), meta=meta)
    if text is None:
        return replace(query, failure=Failure("generate", "context_too_long"))
    answered = query.says(Message("assistant", text, "model", "stop"))
    spoken = replace(answered.says(Message("user", "So, what, now?", "model")), correct=CHECKS[task](answered))
    return replace(spoken, judgement=Judgement("generic_followup", True, "local-1"))


@pytest.fixture
def rows(nltk_data: None) -> list[Dialogue]:
    """Five rows of IFEval, two of IFBench, one that failed in another task."""
    return [
        row("ifeval", "so short", WORDS, NO_COMMA, number=1),
        row("ifeval", "Sure, here:\nso short", WORDS, NO_COMMA, number=2),
        row("ifeval", "this, is far, too long", WORDS, NO_COMMA, number=3),
        row("ifeval", "", WORDS, NO_COMMA, number=4),
        row("ifeval", None, WORDS, NO_COMMA, number=5),
        row("ifbench", "What a day!", RATIO, number=6),
        row("ifbench", "One. Two. Three?", RATIO, number=7),
        Dialogue("gsm8k", (Message("user", "2 + 2?"),), failure=Failure("generate", "context_too_long")),
    ]


def build(*paths: Path) -> list[Table]:
    return instruction_following.build(read_runs(paths))


def shares(table: Table, column: str) -> list[str]:
    """Successes of n, per measure."""
    place = table.columns.index(column)
    return [f"{cells[place].successes}/{cells[place].n}" for cells in table.rows[:-1]]


def test_the_four_scores_are_those_counted_by_hand(rows: list[Dialogue], make_run: MakeRun) -> None:
    (table,) = build(make_run("run", rows))
    assert table.title == "Instruction following, SmolLM2-135M-Instruct"
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


def test_equal_rows_in_any_order_give_an_equal_table(rows: list[Dialogue], make_run: MakeRun) -> None:
    assert build(make_run("run", rows)) == build(make_run("reversed", rows[::-1]))


def test_runs_of_other_temperatures_share_their_answers_and_perturbed_ones_are_left_out(
    rows: list[Dialogue], make_run: MakeRun
) -> None:
    cold = make_run("cold", [line for line in rows if line.task == "ifeval"])
    warm = make_run("warm", rows, temperature=1.0)
    cut = make_run("cut", rows, perturbation={"name": "truncate"})
    (table,) = build(cold, warm, cut)
    assert table.rows == build(warm)[0].rows
    assert "Runs left out: 1 perturbed." in table.notes
    assert build(cut) == []


def test_models_stand_in_tables_of_their_own(rows: list[Dialogue], make_run: MakeRun) -> None:
    tables = build(make_run("small", rows), make_run("qwen", rows, model="Qwen3.5-2B@1", format="qwen3_5"))
    assert [table.title for table in tables] == [
        "Instruction following, Qwen3.5-2B",
        "Instruction following, SmolLM2-135M-Instruct",
    ]


def test_answers_that_were_not_graded_give_no_table(rows: list[Dialogue], make_run: MakeRun) -> None:
    ungraded = [replace(line, correct=None) for line in rows]
    assert build(make_run("run", ungraded)) == [] == build(make_run("other", rows[-1:]))


def test_a_verdict_that_is_not_that_of_the_row_is_told(rows: list[Dialogue], make_run: MakeRun) -> None:
    (table,) = build(make_run("run", [replace(rows[0], correct=False), *rows[1:]]))
    assert table.notes[-1].startswith("WARNING: 1 IFEval rows have grades by other checkers")
    assert not any("WARNING" in note for note in build(make_run("right", rows))[0].notes)
