"""Table 2 from rows to print: which columns, which numbers, which notes; equal rows give equal bytes."""

from __future__ import annotations

import csv
import io
import json
import random

import pytest

from eval.dialogue import Dialogue, Failure, Judgement, Message
from eval.labels import LABELS
from eval.summary import summarise
from eval.table import Table
from eval.table_formats import to_csv, to_json, to_markdown
from eval.tables.table2 import Protocol, build

PROTOCOL = Protocol("tiny@0123", "local-1", "as_history", 0.0, perturbation="none", answers_from=None)


def rows(task: str, genuine: int, n: int, *, held_out: bool = False, right: int | None = None) -> list[Dialogue]:
    """`n` judged rows: the first `genuine` of them genuine, every second of these specific; the first `right` right."""
    made = []
    for i in range(n):
        answer = (
            Message("assistant", f"Answer {i}") if held_out else Message("assistant", f"Answer {i}", "tiny", "stop")
        )
        turn = Message("user", "Why?", by="tiny", finish="stop", tokens=3)
        label = ("genuine_followup", "generic_followup")[i % 2] if i < genuine else "new_task_prompt"
        correct = None if right is None else i < right
        query = Message("user", f"Query {i}")
        judgement = Judgement(label, i < genuine, "local-1")
        made.append(Dialogue(task, (query, answer, turn), correct=correct, judgement=judgement))
    return made


ROWS = [
    *rows("coval", 18, 93, held_out=True),
    *rows("gsm8k", 0, 100, right=63),
    *rows("my_task", 1, 10),
    *rows("healthbench", 5, 20, held_out=True),
    *rows("ifbench", 3, 300),
    *(Dialogue("gsm8k", (Message("user", f"{i}"),), failure=Failure("generate", "context_too_long")) for i in range(4)),
    *(Dialogue("healthbench", (Message("user", f"{i}"),), failure=Failure("load", "no_answer")) for i in range(7)),
]


def cell(table: Table, row: str, column: str) -> str:
    """The text at a row's name and a column's heading."""
    (found,) = [cells for cells in table.rows if cells[0].text == row]
    return found[table.columns.index(column)].text


def test_the_row_has_the_columns_of_the_paper_then_the_others() -> None:
    table, _, _ = build("Base", summarise(ROWS), PROTOCOL)
    assert table.columns == (
        "model",
        "GSM8K accuracy %",
        "GSM8K follow-up %",
        "IFBench follow-up %",
        "my_task follow-up %",
        "HealthBench held-out %",
        "CoVal held-out %",
    )
    assert len(table.rows) == 1
    assert cell(table, "Base", "GSM8K accuracy %") == "63.0 [53.2, 71.8] n=100"
    assert cell(table, "Base", "GSM8K follow-up %") == "0.0 [0.0, 3.7] n=100"
    assert cell(table, "Base", "IFBench follow-up %") == "1.0 [0.3, 2.9] n=300"
    assert cell(table, "Base", "CoVal held-out %") == "19.4 [12.6, 28.5] n=93"


def test_the_notes_say_how_the_numbers_were_made() -> None:
    table, detail, _ = build("Base", summarise(ROWS), PROTOCOL)
    line, *others = table.notes
    assert line == (
        "model tiny@0123; judge local-1; history as_history; perturbation none; temperature 0; "
        "95 % Wilson score intervals"
    )
    assert any("Truncated user turns" in note for note in others)
    assert any("Never pooled" in note for note in others)
    assert not any("WARNING" in note for note in others)
    assert "unjudged = gen_error + judge_error + skipped" in detail.notes[0]


def test_rows_of_another_judge_are_pointed_out() -> None:
    table, _, _ = build(
        "Base",
        summarise(ROWS),
        Protocol("tiny@0123", "local-2", "as_history", 0.7, "truncate fraction 0.5", "other@4567"),
    )
    assert f"WARNING: {93 + 100 + 10 + 20 + 300} rows were judged by local-1, not by local-2." in table.notes
    assert "temperature 0.7" in table.notes[0]
    assert "model tiny@0123; answers from other@4567; " in table.notes[0]
    assert "perturbation truncate fraction 0.5" in table.notes[0]


def test_the_detail_has_every_measure_of_each_task() -> None:
    _, detail, _ = build("Base", summarise(ROWS), PROTOCOL)
    assert detail.columns == ("measure", "GSM8K", "IFBench", "my_task", "HealthBench", "CoVal")
    gsm8k = {cells[0].text: cells[1].text for cells in detail.rows}
    assert gsm8k == {
        "setting": "self-generated",
        "N": "104",
        "judged n": "100",
        "truncated": "0",
        "unjudged": "4",
        "gen_error": "4",
        "judge_error": "0",
        "skipped": "0",
        "genuine %": "0.0 [0.0, 3.7]",
        "specific %": "0.0 [0.0, 3.7]",
        "different turns": "1 (1.0 %)",
        "commonest opening": "100 (100.0 %)",
        "graded n": "100",
        "accuracy %": "63.0 [53.2, 71.8]",
        "answers cut off": "0 (0.0 %)",
        "answers ending in ? %": "0.0 [0.0, 3.7]",
        "tokens per user turn": "3.0",
    }
    assert cell(detail, "setting", "HealthBench") == "held-out"
    assert cell(detail, "skipped", "HealthBench") == "7"
    assert cell(detail, "genuine %", "CoVal") == "19.4 [12.6, 28.5]"
    assert cell(detail, "specific %", "CoVal") == "9.7 [5.2, 17.4]"
    assert cell(detail, "accuracy %", "CoVal") == cell(detail, "answers cut off", "CoVal") == "—"


def test_labels_have_counts_and_shares_in_the_guide_s_order() -> None:
    odd = Dialogue(
        "ifbench",
        (Message("user", "q"), Message("assistant", "a", by="tiny"), Message("user", "u", by="tiny")),
        judgement=Judgement("retired_label", False, "local-1"),
    )
    _, _, labels = build("Base", summarise([*ROWS, odd]), PROTOCOL)
    assert [cells[0].text for cells in labels.rows] == [*LABELS, "retired_label"]
    assert cell(labels, "generic_followup", "CoVal") == "9 (9.7 %)"
    assert cell(labels, "new_task_prompt", "CoVal") == "75 (80.6 %)"
    assert cell(labels, "retired_label", "IFBench") == "1 (0.3 %)"
    for column in range(1, len(labels.columns)):
        assert sum(cells[column].successes or 0 for cells in labels.rows) == labels.rows[0][column].n


def test_one_task_in_two_settings_is_two_columns() -> None:
    both = summarise([*rows("chat", 2, 4), *rows("chat", 3, 6, held_out=True)])
    table, detail, _ = build("Base", both, PROTOCOL)
    assert table.columns == ("model", "chat follow-up %", "chat held-out %")
    assert detail.columns == ("measure", "chat, self-generated", "chat, held-out")
    assert (cell(detail, "N", "chat, self-generated"), cell(detail, "N", "chat, held-out")) == ("4", "6")


def test_a_task_with_nothing_judged_keeps_its_column() -> None:
    failed = [Dialogue("ifbench", (), failure=Failure("load", "malformed"))]
    table, detail, _ = build("Base", summarise(failed), PROTOCOL)
    assert cell(table, "Base", "IFBench follow-up (setting unknown) %") == "— n=0"
    assert cell(detail, "setting", "IFBench") == "—"


def test_no_rows_give_tables_without_tasks() -> None:
    table, detail, labels = build("Base", [], PROTOCOL)
    assert table.columns == ("model",)
    assert detail.columns == ("measure",)
    assert len(labels.rows) == len(LABELS)
    assert "Base" in to_markdown([table, detail, labels])


@pytest.mark.parametrize("render", [to_markdown, to_csv, to_json])
def test_equal_rows_give_equal_bytes_in_any_order(render) -> None:
    shuffled = random.Random(3).sample(ROWS, len(ROWS))
    assert render(build("Base", summarise(ROWS), PROTOCOL)) == render(build("Base", summarise(shuffled), PROTOCOL))


def test_renderings_agree_on_a_number() -> None:
    tables = build("Base", summarise(ROWS), PROTOCOL)
    lines = list(csv.DictReader(io.StringIO(to_csv(tables))))
    (line,) = [r for r in lines if r["table"] == "Table 2" and r["column"] == "CoVal held-out %"]
    (read, *_) = json.loads(to_json(tables))
    assert float(line["value"]) == read["rows"][0][-1]["value"] == pytest.approx(100 * 18 / 93, abs=1e-4)
    assert (line["n"], line["successes"]) == ("93", "18")
    assert line["text"] in to_markdown(tables)
