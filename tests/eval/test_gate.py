"""The gate as a pipeline sees it: exit status, what it prints, what it refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from eval.dialogue import Dialogue, Failure
from eval.gate import main

MakeRun = Callable[..., Path]
RowsOf = Callable[..., list[Dialogue]]


@pytest.fixture
def make(make_run: MakeRun, rows_of: RowsOf) -> Callable[..., str]:
    """(name, right, genuine) -> a run of 200 rows of GSM8K and 100 of HealthBench."""

    def make(name: str, right: int, genuine: int, **fields: str) -> str:
        rows = [*rows_of("gsm8k", 200, 0, right=right), *rows_of("healthbench", 100, genuine, held_out=True)]
        return str(make_run(name, rows, called=name.upper(), model=f"m@{name}", **fields))

    return make


MARGINS = ["--max-drop", "gsm8k=2", "--max-drop", "healthbench=0"]


def test_a_model_that_is_as_good_passes(make: Callable[..., str], capsys: pytest.CaptureFixture[str]) -> None:
    base, new = make("base", 120, 40), make("new", 120, 40)
    assert main([base, new, *MARGINS]) == 0
    printed = capsys.readouterr().out
    assert "Gate: NEW against BASE" in printed and "within" in printed and "not resolved" in printed
    assert "side by side" not in printed
    assert main([base, new, *MARGINS, "--strict"]) == 3
    assert main([base, new, "--max-drop", "gsm8k=2", "--strict"]) == 0


def test_a_loss_stops_and_says_which_rows_turned(make: Callable[..., str], capsys: pytest.CaptureFixture[str]) -> None:
    base, new = make("base", 120, 40), make("new", 90, 40)
    assert main([base, new, *MARGINS]) == main([base, new, *MARGINS, "--strict"]) == 1
    printed = capsys.readouterr().out
    assert "GSM8K accuracy: 30 rows turned bad" in printed
    ids = [json.loads(line)["id"] for line in (Path(base) / "rows.jsonl").read_text().splitlines()]
    assert any(f"  {ids[n]}  {base}/rows.jsonl:{n + 1}  {new}/rows.jsonl:{n + 1}" in printed for n in range(90, 120))
    assert printed.count("and 10 more; --json lists them all") == 2
    assert f"to read them side by side, by id: python -m eval.report {base} {new}" in printed


def test_json_has_every_number_and_every_row(make: Callable[..., str], capsys: pytest.CaptureFixture[str]) -> None:
    base, new = make("base", 120, 40), make("new", 90, 44)
    assert main([base, new, *MARGINS, "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["exit_status"], told["base"], told["new"]) == (1, [base], [new])
    gsm8k, healthbench = told["metrics"]
    assert gsm8k["metric"] == "gsm8k.accuracy" and gsm8k["result"] == "worse" and gsm8k["max_drop"] == 2.0
    assert gsm8k["base"] == {"successes": 120, "n": 200} and gsm8k["difference"] == pytest.approx(-15.0)
    assert gsm8k["interval_90"][0] < -15 < gsm8k["interval_90"][1] < -2
    assert len(gsm8k["turned_bad"]) == 30 and gsm8k["turned_good"] == gsm8k["lost"] == []
    row = gsm8k["turned_bad"][0]
    path, line = row["new"].rsplit(":", 1)
    assert json.loads(Path(path).read_text().splitlines()[int(line) - 1])["id"] == row["id"]
    assert healthbench["result"] == "within" and len(healthbench["turned_good"]) == 4


def test_a_run_that_lost_its_judgements_cannot_be_checked(
    make: Callable[..., str], make_run: MakeRun, rows_of: RowsOf, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = rows_of("healthbench", 100, 40, held_out=True)
    failed = [replace(row, judgement=None, failure=Failure("judge", "timeout")) for row in rows[:30]]
    new = str(make_run("new", [*failed, *rows[30:]], called="NEW", model="m@new"))
    assert main([make("base", 120, 40), new, "--max-drop", "healthbench=0"]) == 2
    printed = capsys.readouterr().out
    assert "cannot tell" in printed and "HealthBench held-out: 30 rows lost their outcome" in printed


def test_two_runs_of_one_model_may_be_compared(make: Callable[..., str], make_run: MakeRun, rows_of: RowsOf) -> None:
    """A new version of the code, say: nothing in the protocol differs, nor does the name."""
    first = str(make_run("first", rows_of("gsm8k", 200, 0, right=120), called="Base"))
    second = str(make_run("second", rows_of("gsm8k", 200, 0, right=90), called="Base"))
    assert main([first, second, "--max-drop", "gsm8k=2"]) == 1


def test_what_cannot_be_compared_is_refused_with_2(
    make: Callable[..., str],
    make_run: MakeRun,
    make_shard: MakeRun,
    rows_of: RowsOf,
    capsys: pytest.CaptureFixture[str],
) -> None:
    base = make("base", 120, 40)
    half = str(make_run("half", rows_of("gsm8k", 3, 1), finish=False))
    fewer = str(make_run("fewer", rows_of("gsm8k", 100, 0, right=60)))
    part = make_shard("1-of-3", rows_of("gsm8k", 200, 0, right=60))
    for other, margins, said in (
        (make("judged", 120, 40, judge="local-2"), MARGINS, "judge: local-1 there, local-2 here"),
        (base, MARGINS, "is given twice"),
        (str(part), MARGINS, f"{part} is shard 1/3 of a run; merge the shards first with `python -m eval.merge`"),
        (fewer, ["--max-drop", "gsm8k=2"], "gsm8k: fewer lacks 100 of the 200 rows that base has"),
        (half, MARGINS, f"complete it with `python -m eval.probe --config {half}/config.yaml"),
        (make("new", 120, 40), ["--max-drop", "coval=1"], "base has no rows of coval; it has gsm8k, healthbench"),
        (make("new", 120, 40), ["--max-drop", "gsm8k=1", "--max-drop", "gsm8k.accuracy=2"], "already has a margin"),
        (make("new", 120, 40), ["--max-drop", "gsm8k.best=1"], "after the dot, write one of"),
    ):
        assert main([base, other, *margins]) == 2
        assert said in capsys.readouterr().err


@pytest.mark.parametrize("margin", ["gsm8k", "gsm8k=", "=2", "gsm8k=-1", "gsm8k=two", "gsm8k=nan", "gsm8k=101"])
def test_a_margin_is_a_metric_and_points(margin: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["a", "b", "--max-drop", margin])
    assert ended.value.code == 2 and "write FIGURE=POINTS" in capsys.readouterr().err


def test_a_gate_without_margins_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["a", "b"])
    assert "required: --max-drop" in capsys.readouterr().err
