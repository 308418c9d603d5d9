"""The command: what it writes and prints, and which runs it refuses to put side by side."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from eval.dialogue import Dialogue
from eval.recompute import main as recompute
from eval.table2 import main

MakeRun = Callable[..., Path]
RowsOf = Callable[..., list[Dialogue]]


@pytest.fixture
def runs(make_run: MakeRun, rows_of: RowsOf) -> list[str]:
    """Base, SFT and RL on pocket."""
    made = []
    for name, genuine, right in (("Base", 2, 10), ("SFT", 25, 4), ("RL", 12, 12)):
        rows = [
            *rows_of("pocket_math", 40, genuine, right=right, model=f"m@{name}"),
            *rows_of("pocket_instructions", 30, genuine, right=right, model=f"m@{name}"),
            *rows_of("pocket_conversations", 30, genuine, model=f"m@{name}", held_out=True),
        ]
        made.append(str(make_run(name.lower(), rows, called=name, model=f"m@{name}")))
    return made


def test_the_table_is_printed_and_written(runs: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    assert main([*runs, "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    assert "Table 2: models side by side" in printed and "paper value" in printed
    assert printed.split("\n\n")[1].splitlines()[1].split()[0] == "model"
    assert "Labels of the user turns" not in printed and "Labels of the user turns" in (out / "table2.md").read_text()
    names = {path.name for path in out.iterdir()}
    assert names == {"cells", "table2.sources.json", *(f"table2.{ending}" for ending in ("md", "csv", "tex", "json"))}
    assert len(list((out / "cells").iterdir())) == 12
    assert printed.splitlines()[-1] == f"wrote {out / 'table2.sources.json'}"
    lines = list(csv.DictReader((out / "table2.csv").open()))
    (line,) = [r for r in lines if r["row"] == "SFT" and r["column"] == "pocket math follow-up %"]
    assert (line["value"], line["successes"], line["n"], line["paper"]) == ("62.5", "25", "40", "")
    assert [table["title"] for table in json.loads((out / "table2.json").read_text())][2:3] == [
        "Answers that end in a question"
    ]
    assert r"\begin{table}" in (out / "table2.tex").read_text()


def test_equal_runs_give_equal_bytes(runs: list[str], tmp_path: Path) -> None:
    for name in ("one", "two"):
        assert main([*runs, "--out", str(tmp_path / name)]) == 0
    files = sorted(path for path in (tmp_path / "one").rglob("*") if path.is_file())
    for path in files:
        assert path.read_bytes() == (tmp_path / "two" / path.relative_to(tmp_path / "one")).read_bytes(), path


def test_runs_on_the_answers_of_base_are_told_by_the_option_or_found(
    runs: list[str], make_run: MakeRun, rows_of: RowsOf, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = []
    for row in rows_of("pocket_math", 40, 9, model="m@SFT"):
        query, answer, turn = row.messages
        rows.append(replace(row, messages=(query, replace(answer, by="m@Base"), turn)))
    cross = str(make_run("cross", rows, called="SFT", model="m@SFT", answers_from="m@Base"))
    for name, arguments in (("given", [*runs, "--cross", cross]), ("found", [*runs, cross])):
        assert main([*arguments, "--out", str(tmp_path / name)]) == 0
        assert "Cross condition: user turns on the answers of Base" in capsys.readouterr().out
    assert (tmp_path / "given" / "table2.md").read_bytes() == (tmp_path / "found" / "table2.md").read_bytes()


def test_the_judge_that_rewarded_a_model_is_named_and_may_not_be_the_one_that_measures_it(
    runs: list[str], make_run: MakeRun, rows_of: RowsOf, tmp_path: Path
) -> None:
    for judge, note in (
        ("grounding-1", "RL was trained on rewards of grounding-1."),
        ("local-1", "WARNING: RL was trained on rewards of this judge, so its follow-up rates are not valid."),
    ):
        training = {"method": "grpo", "base": "m@Base", "reward_judge": judge}
        rows = rows_of("pocket_math", 40, 9, model="m@RL")
        rl = make_run(f"rl-{judge}", rows, called="RL", model="m@RL", training=training)
        out = tmp_path / judge
        assert main([runs[0], str(rl), "--out", str(out)]) == 0
        assert note in (out / "table2.md").read_text()


def test_what_cannot_stand_side_by_side_is_refused_in_a_line(
    runs: list[str], make_run: MakeRun, rows_of: RowsOf, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = ["--out", str(tmp_path / "out")]
    rows = rows_of("pocket_math", 40, 9, model="m@4")
    other = str(make_run("other", rows, called="Other", model="m@4", judge="local-2"))
    half = str(make_run("half", rows, finish=False, model="m@5"))
    assert main([*runs, other, *out]) == 2
    assert main([*runs, half, *out]) == 2
    assert main([*runs, runs[1], *out]) == 2
    assert main([str(make_run("ifeval", rows_of("ifeval", 4, 1))), *out]) == 2
    assert main([runs[1], runs[0], *out, "--force"]) == 2
    errors = [line for line in capsys.readouterr().err.splitlines() if line.startswith("error: ")]
    assert len(errors) == 5 and not (tmp_path / "out").exists()
    assert "include it marked with --force" in errors[0]
    assert errors[1].endswith(f"complete it with `python -m eval.probe --config {half}/config.yaml --run-dir {half}`")
    assert errors[2].endswith("runs/sft is given twice; give each run once")
    assert "no task of Table 2" in errors[3]
    assert errors[4].endswith(
        "base is named Base and comes after SFT (sft); the first run is what the others are compared "
        "with: put Base first"
    )
    assert main([*runs, other, *out, "--force"]) == 0
    assert "Other \u2020" in capsys.readouterr().out


def test_labels_set_corrected_rates_beside_the_raw_ones(
    make_run: MakeRun, rows_of: RowsOf, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = rows_of("pocket_math", 40, 20, right=5, model="m@0")
    run = str(make_run("base", rows, called="Base", model="m@0"))
    gold, out = tmp_path / "gold.jsonl", tmp_path / "out"
    with gold.open("w") as lines:
        for place, row in enumerate(rows[::2]):
            *context, turn = row.messages
            messages = [{"role": message.role, "content": message.text} for message in context]
            genuine = place < 8
            label = "genuine_followup" if genuine else "other"
            told = {"messages": messages, "user_turn": turn.text, "label": label, "genuine": genuine}
            lines.write(json.dumps(told) + "\n")
    assert main([run, "--labels", str(gold), "--out", str(out)]) == 0
    assert "The judge against the labels" in capsys.readouterr().out
    lines_read = list(csv.DictReader((out / "table2.csv").open()))
    (line,) = [r for r in lines_read if r["row"].endswith("follow-up") and r["column"] == "prediction-powered %"]
    assert (line["value"], line["n"]) == ("40.0", "20")
    assert recompute([str(out)]) == 0
    gold.unlink()
    assert recompute([str(out)]) == 2
    assert "--labels: no gold file" in capsys.readouterr().err


def test_help_is_light(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    assert "the first is Base" in capsys.readouterr().out
