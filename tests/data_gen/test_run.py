"""The command as a user calls it: what it prints, what it writes, how it ends."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from data_gen.run import main
from eval.dialogue import Dialogue, Failure
from eval.judges.local import Judge

DEMO = ["--config", "configs/demo/data_gen.yaml", "--conversations", "20", "--seeds.written.limit", "12"]


@pytest.fixture(autouse=True)
def in_the_repository(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repository)


def test_a_dry_run_prints_the_plan_and_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*DEMO, "--out-dir", str(tmp_path / "set"), "--dry-run"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "seeds of written 12" in told and "conversations 20" in told
    assert "user turns, extend" in told and "teacher, US dollars at most 0.00" in told
    assert "compared with the rows of pocket (100 rows)" in told
    assert not (tmp_path / "set").exists()


def test_a_paid_teacher_has_a_bound_that_its_budget_lowers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    paid = ["--teacher", "openai", "--teacher.cache", "null", "--out-dir", str(tmp_path / "set"), "--dry-run"]

    def bound(*extra: str) -> float:
        assert main([*DEMO, *paid, *extra]) == 0
        (line,) = (line for line in capsys.readouterr().out.splitlines() if "teacher, US dollars" in line)
        return float(line.split()[-1])

    assert bound() > 1
    assert bound("--teacher.budget-usd", "0.5") == 0.5
    assert bound("--teacher.budget-usd", "9999") == bound()


def test_a_budget_below_the_bound_is_noted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    paid = ["--teacher", "openai", "--teacher.cache", "null", "--out-dir", str(tmp_path / "set"), "--dry-run"]

    def told(*extra: str) -> str:
        assert main([*DEMO, *paid, *extra]) == 0
        return " ".join(capsys.readouterr().out.split())

    without = re.search(r"teacher, US dollars at most ([\d.]+)", told())
    assert without is not None
    note = f"teacher.budget_usd 0.50 is below the maximum cost of {without[1]} dollars"
    assert note in told("--teacher.budget-usd", "0.5")
    assert "budget_usd" not in told("--teacher.budget-usd", "9999") and "budget_usd" not in told()


def test_a_run_prints_what_became_of_the_conversations(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "set"
    assert main([*DEMO, "--out-dir", str(folder)]) == 0
    told = capsys.readouterr()
    flat = " ".join(told.out.split())
    assert "made 20" in flat and "kept" in flat and "distinct-2" in flat and "genuine_followup" in flat
    assert told.out.rstrip().endswith(f"data set: {folder}")
    assert "conversations: 20/20 rows" in told.err and "filtering: 20/20 rows" in told.err
    assert (folder / "manifest.json").is_file()


def test_conversations_of_earlier_runs_cost_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = ["--out-dir", str(tmp_path / "set")]
    assert main([*DEMO, *folder]) == 0
    capsys.readouterr()
    assert main([*DEMO, *folder, "--conversations", "30", "--dry-run"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "conversations 30 already made 20" in told


def test_a_finished_data_set_is_only_read_unless_failures_are_to_be_retried(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A training run has the hash of its conversations: with other ones it is another run."""
    folder = tmp_path / "set"
    command = [*DEMO, "--out-dir", str(folder)]
    judge = Judge.judge

    def judges_all_but_one(self: Judge, dialogues: Iterable[Dialogue]) -> Iterator[Any]:
        for number, (dialogue, verdict) in enumerate(judge(self, dialogues)):
            yield dialogue, Failure("judge", "timeout") if number == 3 else verdict

    def written() -> dict[Path, tuple[int, bytes]]:
        return {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in folder.iterdir() if path.is_file()}

    monkeypatch.setattr(Judge, "judge", judges_all_but_one)
    assert main(command) == 0
    assert "conversations that failed: 1 (timeout 1); retry them with --retry-failed" in capsys.readouterr().out
    monkeypatch.setattr(Judge, "judge", judge)
    before = written()

    assert main(command) == 0
    told = capsys.readouterr()
    assert "made 20" in " ".join(told.out.split()) and "conversations that failed: 1 (timeout 1)" in told.out
    assert written() == before and not told.err
    assert main([*command, "--dry-run"]) == 0
    assert "already made 20" in " ".join(capsys.readouterr().out.split())

    assert main([*command, "--retry-failed"]) == 0
    assert "failed" not in capsys.readouterr().out
    assert (
        "unjudged" in before[folder / "README.md"][1].decode() and "unjudged" not in (folder / "README.md").read_text()
    )
    after = written()
    assert main(command) == 0 and written() == after


def test_an_invalid_setting_gives_a_one_line_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*DEMO, "--out-dir", str(tmp_path), "--seeds.written.limit", "0"]) == 2
    told = capsys.readouterr().err
    assert told.startswith("error: seeds.written: limit is 0") and len(told.splitlines()) == 1
