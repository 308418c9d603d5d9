"""Tables 1, 3, 4, 5 and 6 from run folders to cells: hand-computed rates, the paper's values, and what is left out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from eval import plugin
from eval.dialogue import Dialogue, Failure, Message
from eval.finished_runs import read_runs
from eval.labels import LABELS
from eval.paper import run_tables
from eval.table import Table

MakeRun = Callable[..., Path]
RowsOf = Callable[..., list[Dialogue]]
QWEN = {"model": "Qwen3.5-2B@1", "format": "qwen3_5"}


def build(number: int, *paths: Path) -> list[Table]:
    return plugin.load("eval.tables", f"table{number}").build(read_runs(paths))


def cell(table: Table, row: str, column: str) -> str:
    """The text at a row's name and a column's heading."""
    (found,) = [cells for cells in table.rows if cells[0].text == row]
    return found[table.columns.index(column)].text


@pytest.fixture
def small(make_run: MakeRun, rows_of: RowsOf) -> Path:
    """SmolLM2, greedy: GSM8K with a failed row, and held-out CoVal."""
    failed = Dialogue("gsm8k", (Message("user", "x"),), failure=Failure("generate", "context_too_long"))
    rows = [*rows_of("gsm8k", 100, 2, right=5), failed, *rows_of("coval", 93, 18, held_out=True)]
    return make_run("small", rows)


@pytest.fixture
def qwen(make_run: MakeRun, rows_of: RowsOf) -> Path:
    """Qwen3.5-2B, greedy, on two tasks of the paper."""
    return make_run("qwen", [*rows_of("gsm8k", 200, 0, right=124), *rows_of("ifbench", 300, 3)], **QWEN)


def test_table_3_has_a_table_per_family_and_task(small: Path, qwen: Path) -> None:
    tables = build(3, small, qwen)
    assert [table.title for table in tables] == [
        "Table 3: Qwen3.5 scaling, GSM8K",
        "Table 3: Qwen3.5 scaling, IFBench",
        "Table 3: smollm2 scaling, GSM8K",
        "Table 3: smollm2 scaling, CoVal (held-out)",
    ]
    assert cell(tables[0], "Qwen3.5-2B", "accuracy % (paper)") == "62.0 [55.1, 68.4] n=200 (62.2)"
    assert cell(tables[0], "Qwen3.5-2B", "genuine % (paper)") == "0.0 [0.0, 1.9] n=200 (0.0)"
    assert cell(tables[1], "Qwen3.5-2B", "genuine % (paper)") == "1.0 [0.3, 2.9] n=300 (0.7)"
    assert cell(tables[1], "Qwen3.5-2B", "specific %") == "0.7 [0.2, 2.4] n=300"
    assert tables[1].columns == ("model", "genuine % (paper)", "specific %"), "no row was graded"
    assert cell(tables[2], "SmolLM2-135M-Instruct", "accuracy % (paper)") == "5.0 [2.2, 11.2] n=100/101 (—)"
    assert cell(tables[2], "SmolLM2-135M-Instruct", "genuine % (paper)") == "2.0 [0.6, 7.0] n=100/101 (—)"
    assert cell(tables[3], "SmolLM2-135M-Instruct", "genuine % (paper)") == "19.4 [12.6, 28.5] n=93 (—)"


def test_table_5_has_all_families_in_one_table_and_its_own_paper_values(
    small: Path, qwen: Path, make_run: MakeRun, rows_of: RowsOf
) -> None:
    oss = make_run("oss", rows_of("gsm8k", 100, 1, right=94), model="gpt-oss-20b@1", format="harmony")
    gsm8k, *others = build(5, small, oss, qwen)
    assert [cells[0].text for cells in gsm8k.rows] == ["Qwen3.5-2B", "gpt-oss-20b", "SmolLM2-135M-Instruct"]
    assert cell(gsm8k, "gpt-oss-20b", "genuine % (paper)") == "1.0 [0.2, 5.4] n=100 (1.4)"
    assert cell(gsm8k, "Qwen3.5-2B", "genuine % (paper)").endswith("(—)"), "Table 5 has no Qwen3.5-2B"
    assert [table.title for table in others] == [
        "Table 5: all families, IFBench",
        "Table 5: all families, CoVal (held-out)",
    ]


@pytest.mark.parametrize("number", [3, 5])
def test_warm_and_perturbed_runs_are_left_out_and_counted(
    number: int, qwen: Path, make_run: MakeRun, rows_of: RowsOf
) -> None:
    warm = make_run("warm", rows_of("gsm8k", 10, 5), temperature=1.0, **QWEN)
    cut = make_run("cut", rows_of("gsm8k", 10, 5), perturbation={"name": "truncate"}, **QWEN)
    gsm8k, _ = build(number, qwen, warm, cut)
    assert len(gsm8k.rows) == 1
    assert "Runs left out: 1 perturbed, 1 at temperatures other than 0." in gsm8k.notes
    assert build(number, warm, cut) == []


def test_cross_runs_are_tables_of_their_own_without_accuracy(small: Path, make_run: MakeRun, rows_of: RowsOf) -> None:
    rows = [
        Dialogue(r.task, (*r.messages[:-1], Message("user", "Why?", "b@1", "stop")), judgement=r.judgement, id=r.id)
        for r in rows_of("gsm8k", 40, 4, right=9)
    ]
    crossed = make_run("crossed", rows, model="b@1", answers_from="tiny@0123")
    tables = build(5, small, crossed)
    (table,) = [table for table in tables if "another model's answers" in table.title]
    assert table.title == "Table 5: all families, GSM8K (on another model's answers)"
    assert table.columns == ("model", "genuine % (paper)", "specific %")
    assert [cells[0].text for cells in table.rows] == ["b (answers_from tiny@0123)"]


def test_table_4_has_temperatures_in_columns_and_genuine_over_specific(
    qwen: Path, make_run: MakeRun, rows_of: RowsOf
) -> None:
    warm = [
        make_run("warm", rows_of("ifbench", 300, 65), temperature=1.0, answers_from=QWEN["model"], **QWEN),
        make_run("mild", rows_of("ifbench", 300, 40), temperature=0.7, **QWEN),
        make_run("other", rows_of("ifbench", 50, 5), temperature=1.0),
    ]
    (table,) = build(4, *warm, qwen)
    assert table.title == "Table 4: follow-up % by temperature, IFBench"
    assert table.columns == ("model", "T=0", "T=0.7", "T=1")
    genuine, specific = "Qwen3.5-2B, genuine (paper)", "Qwen3.5-2B, specific"
    assert cell(table, genuine, "T=0") == "1.0 [0.3, 2.9] n=300 (0.7)"
    assert cell(table, genuine, "T=0.7") == "13.3 [9.9, 17.6] n=300 (13.3)"
    assert cell(table, genuine, "T=1") == "21.7 [17.4, 26.7] n=300 (21.7)"
    assert cell(table, specific, "T=1") == "11.0 [7.9, 15.0] n=300"
    assert cell(table, "SmolLM2-135M-Instruct, genuine (paper)", "T=0") == "— (—)"


def test_table_4_needs_two_temperatures_of_a_task(qwen: Path, make_run: MakeRun, rows_of: RowsOf) -> None:
    assert build(4, qwen) == []
    assert build(4, qwen, make_run("warm", rows_of("ifeval", 5, 1), temperature=1.0, **QWEN)) == []


def test_table_1_pairs_the_rows_and_adjusts_over_the_table(qwen: Path, make_run: MakeRun, rows_of: RowsOf) -> None:
    turns = {"turn": "Why not?"}
    rows = [*rows_of("gsm8k", 120, 12, **turns), *rows_of("gsm8k", 200, 0)[120:], *rows_of("ifbench", 300, 3)]
    cut = make_run("cut", rows, perturbation={"name": "truncate", "fraction": 0.5}, **QWEN)
    asked = make_run("asked", rows_of("gsm8k", 200, 6), perturbation={"name": "append_question"}, **QWEN)
    truncated, appended = build(1, asked, qwen, cut)
    assert truncated.title == "Table 1: truncated answers"
    gsm8k, ifbench = "Qwen3.5-2B, GSM8K, truncate fraction 0.5", "Qwen3.5-2B, IFBench, truncate fraction 0.5"
    assert cell(truncated, gsm8k, "genuine %, base (paper)") == "0.0 [0.0, 1.9] n=200 (—)"
    assert cell(truncated, gsm8k, "genuine %, perturbed (paper)") == "6.0 [3.5, 10.2] n=200 (—)"
    # 12 of 200 turned genuine and none back: exact p = 2 / 2**12, twice that for two tests.
    assert cell(truncated, gsm8k, "p (Holm)") == "<0.001"
    assert truncated.rows[0][4].value == pytest.approx(2 * 2 / 2**12, abs=1e-6)
    # Bonett and Price: 12 / 202 +- 1.96 * sqrt((14 / 202 - (12 / 202)**2) / 202)
    assert cell(truncated, gsm8k, "genuine, difference") == "6.0 [2.4, 9.5] n=200"
    assert cell(truncated, gsm8k, "user turns changed %") == "60.0 [53.1, 66.5] n=200"
    assert cell(truncated, ifbench, "p (Holm)") == "1.000"
    assert cell(truncated, ifbench, "user turns changed %") == "0.0 [0.0, 1.3] n=300"
    assert appended.title == "Table 1: answers with a question appended"
    assert [cells[0].text for cells in appended.rows] == ["Qwen3.5-2B, GSM8K, append_question"]
    # 6 of 200: p = 2 / 2**6
    assert cell(appended, "Qwen3.5-2B, GSM8K, append_question", "p (Holm)") == "0.031"


def test_table_1_shows_the_paper_s_values_of_its_own_table(make_run: MakeRun, rows_of: RowsOf) -> None:
    glm = {"model": "GLM-4.7@1", "format": "glm"}
    base = make_run("base", rows_of("gpqa_diamond", 50, 1), **glm)
    half, most = (
        make_run(f"cut{f}", rows_of("gpqa_diamond", 50, 20), perturbation={"name": "truncate", "fraction": f}, **glm)
        for f in (0.5, 0.9)
    )
    (table,) = build(1, base, half, most)
    for fraction in (0.5, 0.9):
        name = f"GLM-4.7, GPQA Diamond, truncate fraction {fraction}"
        assert cell(table, name, "genuine %, base (paper)").endswith("(2.0)")
        assert cell(table, name, "genuine %, perturbed (paper)").endswith("(39.4)")


def test_table_1_does_not_test_the_turns_of_real_users(qwen: Path, make_run: MakeRun, rows_of: RowsOf) -> None:
    real = [replace(row, meta={"source": "real_user"}) for row in rows_of("coval_real_user", 50, 40, held_out=True)]
    perturbed = {"name": "append_question"}
    base = make_run("controlled", [*rows_of("gsm8k", 200, 0), *real], **QWEN)
    asked = make_run("asked", [*rows_of("gsm8k", 200, 6), *real], perturbation=perturbed, **QWEN)
    (table,) = build(1, base, asked)
    assert [cells[0].text for cells in table.rows] == ["Qwen3.5-2B, GSM8K, append_question"]
    assert cell(table, "Qwen3.5-2B, GSM8K, append_question", "p (Holm)") == "0.031", "one test: p = 2 / 2**6"


def test_table_1_names_perturbed_runs_without_their_base(qwen: Path, make_run: MakeRun, rows_of: RowsOf) -> None:
    cut = make_run("cut", rows_of("gsm8k", 200, 12), perturbation={"name": "truncate"}, **QWEN)
    lone = make_run("lone", rows_of("gsm8k", 20, 2), perturbation={"name": "truncate"})
    (table,) = build(1, qwen, cut, lone)
    assert any("as the same run without perturbation is missing: lone." in note for note in table.notes)
    assert build(1, lone) == [] == build(1, qwen)


def test_table_6_has_a_column_per_family_and_the_paper_s_labels_first(
    small: Path, qwen: Path, make_run: MakeRun, rows_of: RowsOf
) -> None:
    bigger = make_run("bigger", rows_of("gsm8k", 200, 50), model="Qwen3.5-4B@1", format="qwen3_5")
    (table,) = build(6, small, qwen, bigger)
    assert table.columns == ("label", "Qwen3.5 % (paper)", "smollm2 % (paper)")
    labels = [cells[0].text for cells in table.rows]
    assert labels[:2] == ["previous_turn_restate", "assistant_turn_restate"]
    assert set(labels) == set(LABELS)
    restated = table.rows[labels.index("previous_turn_restate")]
    assert restated[1].value == pytest.approx((100 * 497 / 500 + 75) / 2, abs=1e-3), "models weigh alike"
    assert restated[1].text.endswith("n=700 (78.5)")
    assert restated[2].text == "98.0 [93.0, 99.4] n=100 (—)", "held-out rows do not count"
    assert cell(table, "meta_planning", "smollm2 % (paper)") == "0.0 [0.0, 3.7] n=100 (—)"
    assert any(note == "Qwen3.5: Qwen3.5-2B, Qwen3.5-4B." for note in table.notes)
    shares = [cells[1].value for cells in table.rows]
    assert sum(share for share in shares if share is not None) == pytest.approx(100, abs=0.01)


def test_table_6_without_a_self_generated_row_is_no_table(make_run: MakeRun, rows_of: RowsOf) -> None:
    assert build(6, make_run("held", rows_of("coval", 5, 1, held_out=True))) == []


@pytest.mark.parametrize("name", run_tables.names())
def test_no_runs_are_no_table_and_every_table_says_what_it_needs(name: str) -> None:
    (one,) = run_tables.build([], [name])
    assert one.tables == () and "run" in one.lacks
