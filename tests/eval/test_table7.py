"""The command: judges by name, options of each kind, what a paid judge needs, and the files that it writes."""

from __future__ import annotations

import json
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval.dialogue import Dialogue
from eval.table7 import main

MakeRun = Callable[..., Path]
RowsOf = Callable[..., list[Dialogue]]
JudgeServer = runpy.run_path(str(Path(__file__).parent / "client" / "judge_server.py"))["JudgeServer"]


@pytest.fixture(autouse=True)
def wide_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "220")


@pytest.fixture
def run(make_run: MakeRun, rows_of: RowsOf) -> str:
    return str(make_run("run", rows_of("ifbench", 20, 8)))


def answer(request: dict[str, Any]) -> str:
    number = int(json.loads(request["messages"][1]["content"])["context"][0]["text"].split()[-1])
    return json.dumps({"label": "genuine_followup", "genuine": number % 2 == 0})


def test_two_embedded_judges_on_stored_rows(run: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    for _ in range(2):
        assert main(["--judges", "local,grounding", run, "--out", str(out)]) == 0
    shown = capsys.readouterr().out
    assert "Table 7: agreement between judges" in shown and "paper: full panel, nano and mini" in shown
    assert {path.name for path in out.iterdir()} == {
        "judgements.jsonl",
        *(f"table7.{ending}" for ending in ("md", "csv", "tex", "json")),
    }
    assert len((out / "judgements.jsonl").read_text().splitlines()) == 40, "the second time nothing is asked"


def test_a_judge_behind_a_server_takes_its_options(
    run: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = ["--out", str(tmp_path / "out")]
    with JudgeServer(["refusal"] * 2, answer=answer) as server:
        options = [f"--openai.base_url={server.url}", "--openai.api_key_variable", "null"]
        command = ["--judges", "grounding,openai:judge-1", *options, "--openai.cache", "null", run, *out]
        assert main(command) == 0
        assert {request["model"] for request in server.requests} == {"judge-1"} and len(server.requests) == 20
        assert "2 (refusal 2)" in capsys.readouterr().out
        assert main(command) == 0
        assert len(server.requests) == 22, "what had failed"
    tables = json.loads((tmp_path / "out" / "table7.json").read_text())
    (row,) = [row for row in tables[0]["rows"] if row[0]["text"].startswith("full panel, grounding-")]
    assert (row[1]["value"], row[2]["value"]) == (20, 0)


def test_a_paid_judge_needs_a_bound_and_keeps_it(run: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with JudgeServer() as server:
        options = [f"--openai.base_url={server.url}", "--openai.api_key_variable", "null", "--openai.cache", "null"]
        command = ["--judges", "grounding,openai:gpt-5.4-nano", *options, run, "--out", str(tmp_path / "out")]
        assert main(command) == 2
        error = capsys.readouterr().err
        assert "has 20 user turns to judge, at most $" in error and "--openai.budget_usd 5" in error
        assert server.requests == []
        assert main([*command, "--openai.budget_usd", "0.002"]) == 0
        shown = capsys.readouterr().out
        assert "budget" in shown and "dollars 0.00" in shown and 0 < len(server.requests) < 20


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--judges", "local"], "name two or more"),
        (["--judges", "local,local"], "twice"),
        (["--judges", "local,oracle"], "unknown 'oracle'; known are grounding, local"),
        (["--judges", "local,openai:gpt-5.4-nano"], "no date"),
        (
            ["--judges", "local,grounding", "--openai.cache", "null"],
            "--openai.cache is not an option of local, grounding",
        ),
        (["--judges", "local,grounding:m"], "unknown key 'model' in grounding"),
        (["--judges", "local,grounding", "--local.x"], "--local.x needs a value"),
    ],
)
def test_what_cannot_work_is_said_in_a_line(
    run: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert main([run, "--out", str(tmp_path / "out"), *arguments]) == 2
    assert message in capsys.readouterr().err and not (tmp_path / "out").exists()
