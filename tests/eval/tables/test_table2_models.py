"""What stands in the tables of several models: texts by hand, marks, warnings, and what is beside the table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from eval.dialogue import Dialogue, Failure
from eval.finished_runs import read_runs
from eval.labels import LABELS
from eval.model_comparison.comparison import compare_models
from eval.table import Table
from eval.tables.table2_models import build

MakeRun = Callable[..., Path]
RowsOf = Callable[..., list[Dialogue]]
BASE, SFT = "Qwen3.5-2B@0", "model@1"


def tables(*paths: Path, force: bool = False) -> dict[str, Table]:
    return {table.title: table for table in build(compare_models(read_runs(paths), force=force))}


def text(table: Table, row: str, column: str) -> str:
    (cells,) = [cells for cells in table.rows if cells[0].text == row]
    return cells[table.columns.index(column)].text


@pytest.fixture
def make(make_run: MakeRun, rows_of: RowsOf) -> Callable[..., Path]:
    """(name, model, genuine, right) -> a run of that name on 40 rows of GSM8K, IFBench and CoVal."""

    def make(name: str, model: str, genuine: int, right: int, **fields: Any) -> Path:
        rows = [
            *rows_of("gsm8k", 40, genuine, right=right, model=model),
            *rows_of("ifbench", 40, genuine, model=model),
            *rows_of("coval", 40, genuine, model=model, held_out=True),
        ]
        return make_run(name, rows, called=name, model=model, **fields)

    return make


def test_a_cell_has_its_rate_the_paper_s_and_the_verdict(make: Callable[..., Path]) -> None:
    found = tables(make("Base", BASE, 1, 25), make("SFT", SFT, 20, 15))
    table = found["Table 2: models side by side"]
    assert table.columns[:3] == ("model", "GSM8K accuracy %", "IFBench follow-up %")
    assert text(table, "Base", "GSM8K accuracy %") == "62.5 [47.0, 75.8] n=40 (62.9) reproduced"
    assert text(table, "SFT", "IFBench follow-up %") == "50.0 [35.2, 64.8] n=40 (48.0) reproduced"
    assert text(table, "SFT", "GPQA Diamond follow-up %") == "(46.0) not run"
    cell = table.rows[1][2]
    assert (cell.value, cell.successes, cell.n, cell.total, cell.paper) == (50.0, 20, 40, 40, 48.0)


def test_each_metric_has_its_counts_tests_and_reason(make: Callable[..., Path]) -> None:
    table = tables(make("Base", BASE, 1, 25), make("SFT", SFT, 20, 15))["Table 2, metric by metric"]
    (row,) = [row for row in table.rows if row[0].text == "SFT, IFBench follow-up"]
    assert [cell.text for cell in row] == [
        "SFT, IFBench follow-up",
        "50.0 [35.2, 64.8] (48.0)",
        "40",
        "0",
        "25.0 [14.2, 40.2]",
        "47.5 [28.8, 61.7] n=40",
        "<0.001",
        "reproduced",
        "value inside; up, as in the paper",
    ]
    (accuracy,) = [row for row in table.rows if row[0].text == "SFT, GSM8K accuracy"]
    assert accuracy[4].text == "\u2014"
    assert [row[0].text for row in table.rows[:2]] == ["Base, GSM8K accuracy", "Base, IFBench follow-up"]
    assert len(table.rows) == 10


def test_unjudged_and_ungraded_rows_are_counted_per_metric(make_run: MakeRun, rows_of: RowsOf) -> None:
    rows = rows_of("gsm8k", 10, 2, right=5, model=BASE)
    rows[:2] = [replace(row, judgement=None, failure=Failure("judge", "timeout")) for row in rows[:2]]
    rows[9] = replace(rows[9], correct=None)
    more = rows_of("ifbench", 4, 1, model=BASE)
    more[0] = replace(more[0], judgement=None, failure=Failure("judge", "timeout"))
    found = tables(make_run("base", [*rows, *more], called="Base", model=BASE))
    table = found["Table 2, metric by metric"]
    assert text(table, "Base, GSM8K accuracy", "unjudged") == "1"
    assert text(table, "Base, IFBench follow-up", "unjudged") == "1"
    assert text(found["Table 2: models side by side"], "Base", "IFBench follow-up %").startswith(
        "0.0 [0.0, 56.1] n=3/4"
    )


def test_the_notes_name_judge_history_temperature_models_and_what_was_not_run(make: Callable[..., Path]) -> None:
    notes = tables(make("Base", BASE, 1, 25), make("SFT", SFT, 20, 15))["Table 2: models side by side"].notes
    assert notes[0] == "Judge local-1; history as_history; user turns at temperature 0."
    assert notes[1] == f"Base is {BASE}. SFT is {SFT}."
    assert any("Its n is inferred from its rates: GSM8K 1319, IFBench 300" in note for note in notes)
    assert any(note.startswith("Not run: the paper's RL;") for note in notes)
    assert not any("WARNING" in note for note in notes)


def test_without_paper_values_it_says_why(make: Callable[..., Path]) -> None:
    found = tables(make("Base", "Tiny-1B@0", 1, 25), make("SFT", SFT, 20, 15))
    table = found["Table 2: models side by side"]
    assert text(table, "SFT", "IFBench follow-up %") == "50.0 [35.2, 64.8] n=40 no paper value"
    assert "No paper value: the paper's Table 2 is about Qwen3.5-2B, and the first run is of Tiny-1B." in table.notes
    assert not any("reproduced" in note for one in found.values() for note in one.notes)


def test_models_of_another_protocol_are_marked_everywhere(make: Callable[..., Path]) -> None:
    found = tables(make("Base", BASE, 1, 25), make("SFT", SFT, 20, 15, history="as_last"), force=True)
    assert [row[0].text for row in found["Table 2: models side by side"].rows] == ["Base", "SFT \u2020"]
    assert found["Table 2, metric by metric"].rows[5][0].text == "SFT \u2020, GSM8K accuracy"
    assert found["Labels of the user turns, IFBench"].columns == ("label", "Base", "SFT \u2020")
    assert (
        "WARNING: \u2020 SFT was measured differently from Base: history: as_history there, as_last here."
        in found["Table 2: models side by side"].notes
    )


def test_rows_of_another_judge_are_pointed_out(make_run: MakeRun, rows_of: RowsOf) -> None:
    rows = [*rows_of("ifbench", 3, 1, model=BASE), *rows_of("coval", 2, 1, model=BASE, held_out=True, judge="local-0")]
    notes = tables(make_run("base", rows, called="Base", model=BASE))["Table 2: models side by side"].notes
    assert "Base: WARNING: 2 rows were judged by local-0, not by local-1." in notes


def test_labels_and_closing_questions_stand_beside(make_run: MakeRun, rows_of: RowsOf) -> None:
    rows = rows_of("ifbench", 4, 2, model=BASE)
    query, answer, turn = rows[0].messages
    rows[0] = replace(rows[0], messages=(query, replace(answer, text="Shall I go on?"), turn))
    found = tables(make_run("base", rows, called="Base", model=BASE))
    assert text(found["Answers that end in a question"], "Base", "IFBench %") == "25.0 [4.6, 69.9] n=4"
    labels = found["Labels of the user turns, IFBench"]
    assert [row[0].text for row in labels.rows] == list(LABELS)
    assert text(labels, "previous_turn_restate", "Base") == "2 (50.0 %)"
    assert "Labels of the user turns, CoVal (held-out)" not in found


def test_the_cross_condition_starts_with_base_on_its_own_answers(
    make: Callable[..., Path], make_run: MakeRun, rows_of: RowsOf
) -> None:
    rows = []
    for row in rows_of("ifbench", 40, 12, model=SFT):
        query, answer, turn = row.messages
        rows.append(replace(row, messages=(query, replace(answer, by=BASE), turn)))
    cross = make_run("cross", rows, called="SFT", model=SFT, answers_from=BASE)
    table = tables(make("Base", BASE, 2, 25), make("SFT", SFT, 20, 15), cross)[
        "Cross condition: user turns on the answers of Base"
    ]
    assert [[cell.text for cell in row] for row in table.rows] == [
        ["Base, IFBench", "5.0 [1.4, 16.5]", "40", "0", "2.5 [0.4, 12.9]", "\u2014", "\u2014"],
        [
            "SFT on the answers of Base, IFBench",
            "30.0 [18.1, 45.4]",
            "40",
            "0",
            "15.0 [7.1, 29.1]",
            "25.0 [9.3, 38.3] n=40",
            "0.002",
        ],
    ]


def test_cells_lead_to_where_they_are_told_to(make: Callable[..., Path]) -> None:
    comparison = compare_models(read_runs([make("Base", BASE, 1, 25)]))
    table = build(comparison, lambda cell: f"to/{cell.metric.key}")[0]
    assert [cell.link for cell in table.rows[0]] == [
        None,
        "to/gsm8k.accuracy",
        "to/ifbench.genuine",
        None,
        None,
        "to/coval.genuine",
    ]
