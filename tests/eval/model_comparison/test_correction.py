"""Rates of a table, corrected by labels of its own rows and of other models' turns."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from eval.config import ConfigError
from eval.dialogue import Dialogue, Failure
from eval.finished_runs import read_run
from eval.judges.grounding import Judge as Grounding
from eval.model_comparison.correction import correct
from eval.model_comparison.recomputing import recompute
from eval.model_comparison.writing import DECISIONS, Sources, write
from eval.table_formats import to_csv
from eval.tables.table2_models import build

MakeModel = Callable[..., Path]
RowsOf = Callable[..., list[Dialogue]]


def gold_row(row: Dialogue, genuine: bool, **other: Any) -> dict[str, Any]:
    *context, turn = row.messages
    return {
        "messages": [{"role": message.role, "content": message.text} for message in context],
        "user_turn": turn.text,
        "label": "genuine_followup" if genuine else "new_task_prompt",
        "genuine": genuine,
        **other,
    }


def other_turns(judge: str, both: int, only_judge: int, only_label: int, neither: int) -> list[dict[str, Any]]:
    """Items that are no rows of a run, with what a judge said of them."""
    kinds = [(True, True)] * both + [(True, False)] * only_judge + [(False, True)] * only_label
    rows = []
    for number, (said, label) in enumerate([*kinds, *[(False, False)] * neither]):
        messages = [{"role": "user", "content": f"other {number}"}, {"role": "assistant", "content": "a"}]
        judgements = {judge: {"label": "other", "genuine": said}}
        given = {"label": "other", "genuine": label, "judgements": judgements}
        rows.append({"messages": messages, "user_turn": "t", **given})
    return rows


def write_gold(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def runs(make_run: Callable[..., Path], rows_of: RowsOf) -> tuple[Path, Path]:
    """Base and SFT, who say different things on the same rows."""
    made = []
    for name, model, genuine in (("Base", "Qwen3.5-2B@Base", 30), ("SFT", "model@SFT", 150)):
        rows = [
            *rows_of("ifbench", 300, genuine, model=model, turn=f"Why, {name}?"),
            *rows_of("gsm8k", 40, 4, right=20, model=model, turn=f"Why, {name}?"),
        ]
        made.append(make_run(name.lower(), rows, called=name, model=model, format="qwen3_5", judge="judge-1"))
    return made[0], made[1]


@pytest.fixture
def drawn(runs: tuple[Path, Path]) -> list[dict[str, Any]]:
    """Every fifth IFBench row of SFT: the label is no for every fifth yes of the judge, else the judge's."""
    rows = [row for row in read_run(runs[1]).rows() if row.task == "ifbench"][::5]
    judged = [bool(row.judgement and row.judgement.genuine) for row in rows]
    return [gold_row(row, yes and place % 5 > 0) for place, (row, yes) in enumerate(zip(rows, judged, strict=True))]


def test_two_inputs_give_two_estimates(runs: tuple[Path, Path], drawn: list[dict[str, Any]], tmp_path: Path) -> None:
    gold = write_gold(tmp_path / "gold.jsonl", [*drawn, *other_turns("judge-1", 40, 10, 10, 140)])
    found = correct(Sources(runs).compare(), gold)
    (error,) = found.errors
    sft, base = found.cells["SFT", "ifbench.genuine"], found.cells["Base", "ifbench.genuine"]
    assert (sft.labelled, base.labelled, error.undecided) == (60, 0, 0)
    assert sft.prediction_powered.point == pytest.approx(0.5 * 0.8)
    assert base.prediction_powered.why == "no labelled row"
    yes, no = error.sensitivity, error.specificity
    assert yes and no and yes.point == pytest.approx(64 / 74) and no.point == pytest.approx(170 / 186)
    assert base.rogan_gladen.point == pytest.approx((0.1 + no.point - 1) / (yes.point + no.point - 1))
    assert ("SFT", "gsm8k.accuracy") not in found.cells


def test_raw_and_corrected_stand_side_by_side(
    runs: tuple[Path, Path], drawn: list[dict[str, Any]], tmp_path: Path
) -> None:
    gold = write_gold(tmp_path / "gold.jsonl", [*drawn, *other_turns("judge-1", 40, 10, 10, 140)])
    comparison = Sources(runs).compare()
    tables = {table.title: table for table in build(comparison, None, correct(comparison, gold))}
    detail = tables["Table 2, metric by metric"]
    cells = {row[0].text: dict(zip(detail.columns, row, strict=True)) for row in detail.rows}
    sft, accuracy = cells["SFT, IFBench follow-up"], cells["SFT, GSM8K accuracy"]
    assert sft["raw % (paper)"].value == 50.0
    assert (sft["prediction-powered %"].value, sft["prediction-powered %"].n) == (40.0, 60)
    rogan = sft["Rogan-Gladen %"]
    assert rogan.low is not None and rogan.high is not None and rogan.low < 54 < rogan.high and "n=" not in rogan.text
    assert accuracy["Rogan-Gladen %"].text == accuracy["prediction-powered %"].text == "\u2014"
    assert cells["Base, IFBench follow-up"]["prediction-powered %"].text == "\u2014 (no labelled row)"
    judges = tables["The judge against the labels"]
    assert [cell.text for cell in judges.rows[0][:4]] == ["judge-1", "260", "0", "74"]
    assert any("may not transfer" in note for note in judges.notes)
    assert "corrected rates are in the table metric by metric" in " ".join(tables["Table 2: models side by side"].notes)
    assert "prediction-powered %" in to_csv([detail])


def test_a_useless_judge_corrects_nothing_and_says_why(runs: tuple[Path, Path], tmp_path: Path) -> None:
    gold = write_gold(tmp_path / "gold.jsonl", other_turns("judge-1", 10, 50, 10, 50))
    comparison = Sources(runs).compare()
    table = build(comparison, None, correct(comparison, gold))[1]
    column = table.columns.index("Rogan-Gladen %")
    assert {row[column].text for row in table.rows if "follow-up" in row[0].text} >= {
        "\u2014 (sensitivity and specificity add up to 1 or less)"
    }


def test_a_rate_below_the_judges_false_alarms_is_marked_clipped(runs: tuple[Path, Path], tmp_path: Path) -> None:
    gold = write_gold(tmp_path / "gold.jsonl", other_turns("judge-1", 40, 40, 10, 120))
    comparison = Sources(runs).compare()
    table = build(comparison, None, correct(comparison, gold))[1]
    (row,) = [row for row in table.rows if row[0].text == "Base, IFBench follow-up"]
    assert row[2].text.startswith("0.0 [0.0, ") and row[2].text.endswith(" clipped")


def test_an_embedded_judge_is_asked_on_the_spot_and_the_table_is_made_again_without_it(
    make_model: MakeModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fields = {"judge": Grounding().id}
    made = make_model("Base", ifbench=(30, 3, None), fields={**fields, "model": "Qwen3.5-2B@Base"})
    rows = [{**row, "judgements": {}} for row in other_turns("", 0, 0, 20, 20)]
    sources = Sources((made,), labels=write_gold(tmp_path / "gold.jsonl", rows))
    comparison = sources.compare()
    found = sources.correct(comparison)
    assert found and len(found.sample.decisions[Grounding().id].said) == 40
    write(sources, comparison, tmp_path / "out", found)
    monkeypatch.setattr("eval.judges.grounding.decide", lambda exchange: pytest.fail("asked again"))
    assert recompute(tmp_path / "out").differences == ()
    (tmp_path / "out" / DECISIONS).write_text("{}")
    with pytest.raises(ConfigError, match="make the table again"):
        recompute(tmp_path / "out")


def test_changed_labels_show_when_the_table_is_made_again(
    runs: tuple[Path, Path], drawn: list[dict[str, Any]], tmp_path: Path
) -> None:
    gold = write_gold(tmp_path / "gold.jsonl", drawn)
    sources = Sources(runs, labels=gold)
    comparison = sources.compare()
    write(sources, comparison, tmp_path / "out", sources.correct(comparison))
    assert recompute(tmp_path / "out").differences == ()
    write_gold(gold, [{**row, "genuine": not row["genuine"]} for row in drawn])
    digest, *cells = recompute(tmp_path / "out").differences
    assert digest == "../gold.jsonl: its rows have changed since the table was made"
    assert any("SFT, IFBench follow-up / prediction-powered %" in cell for cell in cells)


def test_labels_that_cannot_be_used_are_refused_in_a_line(
    runs: tuple[Path, Path], drawn: list[dict[str, Any]], tmp_path: Path
) -> None:
    comparison = Sources(runs).compare()
    with pytest.raises(ConfigError, match="--labels: no gold file"):
        correct(comparison, tmp_path / "none.jsonl")
    with pytest.raises(ConfigError, match="no decision of judge-1 on these items"):
        correct(comparison, write_gold(tmp_path / "other.jsonl", other_turns("judge-7", 2, 2, 2, 2)))
    with pytest.raises(ConfigError, match="has two labels"):
        correct(comparison, write_gold(tmp_path / "two.jsonl", [drawn[1], {**drawn[1], "genuine": False}]))


def test_a_row_without_a_judgement_is_no_labelled_row(
    make_run: Callable[..., Path], rows_of: RowsOf, tmp_path: Path
) -> None:
    rows = rows_of("ifbench", 20, 10, model="Qwen3.5-2B@0")
    rows[0] = replace(rows[0], judgement=None, failure=Failure("judge", "refusal"))
    run = make_run("base", rows, called="Base", model="Qwen3.5-2B@0", format="qwen3_5", judge="judge-1")
    labels = [gold_row(row, True) for row in rows[:4]] + [gold_row(row, False) for row in rows[16:]]
    gold = write_gold(tmp_path / "gold.jsonl", labels)
    found = correct(Sources((run,)).compare(), gold)
    assert found.cells["Base", "ifbench.genuine"].labelled == 7 and found.errors[0].undecided == 1
