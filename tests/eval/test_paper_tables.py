"""The command: which files it writes, what it prints, and what it refuses."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from eval.dialogue import Dialogue
from eval.paper_tables import main

MakeRun = Callable[..., Path]
RowsOf = Callable[..., list[Dialogue]]
ENDINGS = ("csv", "json", "md", "tex")


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def runs(make_run: MakeRun, rows_of: RowsOf) -> list[str]:
    """A model at two temperatures, and with truncated answers."""
    paths = [
        make_run("greedy", [*rows_of("gsm8k", 40, 1, right=4), *rows_of("ifbench", 20, 1)]),
        make_run("warm", [*rows_of("gsm8k", 40, 9), *rows_of("ifbench", 20, 1)], temperature=1.0),
        make_run("cut", rows_of("gsm8k", 40, 12), perturbation={"name": "truncate", "fraction": 0.5}),
    ]
    return [str(path) for path in paths]


def test_every_table_and_figure_is_written(runs: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "results"
    assert main([*runs, "--out", str(out), "--figures"]) == 0
    tables = [f"table{n}.{ending}" for n in (1, 3, 4, 5, 6) for ending in ENDINGS]
    drawings = [
        f"figure_{name}.{e}" for name in ("accuracy", "labels_self-generated", "temperature") for e in ("png", "svg")
    ]
    assert files(out) == sorted([*tables, *drawings])
    printed = capsys.readouterr().out
    assert "Table 1: truncated answers" in printed
    assert printed.count("Runs left out") == 4, "once a number, however many tables it has"
    assert f"wrote {out / 'table1.tex'}" in printed
    assert "Instruction following: left out; it needs unperturbed runs with graded answers" in printed
    lines = csv.DictReader((out / "table4.csv").open())
    line = next(r for r in lines if r["column"] == "T=1" and "genuine" in r["row"] and "GSM8K" in r["table"])
    assert (line["successes"], line["n"], line["paper"]) == ("9", "40", "")
    assert json.loads((out / "table3.json").read_text())[0]["title"] == "Table 3: smollm2 scaling, GSM8K"


def test_chosen_tables_alone_and_equal_bytes_again(runs: list[str], tmp_path: Path) -> None:
    for name in ("one", "two"):
        assert main([*runs, "--out", str(tmp_path / name), "--tables", "4,6"]) == 0
    assert files(tmp_path / "one") == sorted(f"table{n}.{ending}" for n in (4, 6) for ending in ENDINGS)
    for name in files(tmp_path / "one"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_what_the_runs_do_not_hold_is_said(runs: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([runs[2], "--out", str(tmp_path / "out"), "--figures"]) == 1
    printed = capsys.readouterr().out
    assert "Table 1: left out; it needs a run with a perturbation, and the same run without it" in printed
    assert "figure temperature: left out; it needs unperturbed runs" in printed
    assert files(tmp_path / "out") == []


def test_a_folder_that_is_no_run_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path), "--out", str(tmp_path / "out")]) == 2
    assert "is not a run folder" in capsys.readouterr().err


def test_a_folder_that_cannot_be_written_is_an_error(
    runs: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    taken = tmp_path / "taken"
    taken.touch()
    for out in (taken, taken / "below"):
        assert main([*runs, "--out", str(out), "--figures"]) == 2
        assert f"error: {out} can't be written: " in capsys.readouterr().err


@pytest.mark.parametrize("numbers", ["2", "1,7", "one", "", "1,,3"])
def test_unknown_tables_are_refused_with_the_known(
    numbers: str, runs: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main([*runs, "--out", str(tmp_path), "--tables", numbers])
    assert "choose among 1, 3, 4, 5, 6, instruction_following (a probe" in capsys.readouterr().err
