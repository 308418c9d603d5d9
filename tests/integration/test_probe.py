"""End-to-end probe runs with real weights in real processes, including kills."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from eval.rows import read_rows

pytestmark = pytest.mark.integration

SMALL = "--tasks.pocket.limit 4 --tasks.arithmetic null --answers.max-tokens 24 --sampling.max-tokens 16"


def command(smollm2: Path, run_dir: Path, extra: str = "") -> list[str]:
    fixed = ["--config", "configs/demo/probe.yaml", "--model", str(smollm2), "--run-dir", str(run_dir)]
    return [sys.executable, "-m", "eval.probe", *fixed, *SMALL.split(), *extra.split()]


def run(arguments: list[str], repository: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(arguments, cwd=repository, capture_output=True, text=True, timeout=600)


def content(run_dir: Path) -> dict[str, dict]:
    """The finished rows by dialogue id."""
    return {row.id: row.to_json() for row in read_rows(run_dir / "rows.jsonl")}


@pytest.fixture(scope="module")
def whole(smollm2: Path, repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an uninterrupted run."""
    run_dir = tmp_path_factory.mktemp("whole") / "run"
    done = run(command(smollm2, run_dir), repository)
    assert done.returncode == 0, done.stderr
    assert done.stdout.rstrip().endswith(f"run folder: {run_dir}")
    return run_dir


def test_a_run_writes_rows_tables_and_a_summary(whole: Path) -> None:
    rows = list(content(whole).values())
    assert len(rows) == 12
    assert {row["state"] for row in rows} <= {"ok", "truncated"}
    model = rows[0]["messages"][-1]["by"]
    assert model.startswith("SmolLM2-135M-Instruct@")
    for row in rows:
        assert [m["role"] for m in row["messages"][-2:]] == ["assistant", "user"]
        assert row["messages"][-1]["by"] == model
        assert row["judgement"]["judge"].startswith("local")
    manifest = json.loads((whole / "manifest.json").read_text())
    assert manifest["protocol"]["model"] == model
    assert manifest["protocol"]["format"] == "smollm2" and manifest["protocol"]["format_options"] == {}
    assert manifest["sessions"][0]["tokens"]["user"] == sum(row["messages"][-1]["tokens"] for row in rows)
    for name in ("config.yaml", "table2.md", "table2.csv", "table2.json", "summary.json", "log.txt"):
        assert (whole / name).is_file(), name
    assert sum(task["total"] for task in json.loads((whole / "summary.json").read_text())["tasks"]) == 12


def test_a_second_run_generates_and_judges_nothing(whole: Path, smollm2: Path, repository: Path) -> None:
    before = {name: (whole / name).read_bytes() for name in ("turns.jsonl", "rows.jsonl", "table2.csv")}
    done = run(command(smollm2, whole), repository)
    assert done.returncode == 0, done.stderr
    assert {name: (whole / name).read_bytes() for name in before} == before
    assert json.loads((whole / "manifest.json").read_text())["sessions"][-1]["tokens"] == {}


def test_a_larger_limit_only_adds_rows(whole: Path, smollm2: Path, repository: Path, tmp_path: Path) -> None:
    run_dir = tmp_path / "run"
    assert run(command(smollm2, run_dir, "--tasks.pocket.limit 2"), repository).returncode == 0
    small = (run_dir / "rows.jsonl").read_bytes()
    assert run(command(smollm2, run_dir), repository).returncode == 0
    assert (run_dir / "rows.jsonl").read_bytes().startswith(small)
    assert content(run_dir) == content(whole)


def test_a_different_temperature_in_the_same_folder_is_refused(whole: Path, smollm2: Path, repository: Path) -> None:
    before = content(whole)
    done = run(command(smollm2, whole, "--sampling.temperature 0.7"), repository)
    assert done.returncode == 2
    assert "another protocol" in done.stderr and "Traceback" not in done.stderr
    assert content(whole) == before


def lines(run_dir: Path) -> int:
    return sum(
        (run_dir / name).read_bytes().count(b"\n")
        for name in ("turns.jsonl", "rows.jsonl")
        if (run_dir / name).exists()
    )


def kill_at_a_random_moment(arguments: list[str], repository: Path, run_dir: Path, moment: random.Random) -> bool:
    """SIGKILL after a random time, or shortly after the next row; False if the run had already ended."""
    process = subprocess.Popen(arguments, cwd=repository, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if moment.random() < 0.25:
        end = time.monotonic() + moment.uniform(0, 5)
        while time.monotonic() < end and process.poll() is None:
            time.sleep(0.01)
    else:
        start = lines(run_dir)
        while lines(run_dir) == start and process.poll() is None:
            time.sleep(0.005)
        time.sleep(moment.uniform(0, 0.3))
    if process.poll() is not None:
        return False
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    return True


def test_kills_at_twenty_random_moments_lose_and_change_nothing(
    whole: Path, smollm2: Path, repository: Path, tmp_path: Path
) -> None:
    moment = random.Random(20)
    kills = 0
    for attempt in range(40):
        run_dir = tmp_path / f"run{attempt // 20}"
        before = lines(run_dir)
        kills += kill_at_a_random_moment(command(smollm2, run_dir), repository, run_dir, moment)
        assert lines(run_dir) >= before
        if kills == 20:
            break
    assert kills == 20
    for run_dir in sorted(tmp_path.iterdir()):
        done = run(command(smollm2, run_dir), repository)
        assert done.returncode == 0, done.stderr
        assert content(run_dir) == content(whole)
        assert (run_dir / "table2.csv").read_bytes() == (whole / "table2.csv").read_bytes()


def test_an_interrupted_run_keeps_its_rows(smollm2: Path, repository: Path, tmp_path: Path, whole: Path) -> None:
    run_dir = tmp_path / "run"
    process = subprocess.Popen(command(smollm2, run_dir), cwd=repository, stderr=subprocess.PIPE, text=True)
    while lines(run_dir) == 0 and process.poll() is None:
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "the same command resumes" in error and "Traceback" not in error
    assert not (run_dir / "summary.json").exists()
    assert lines(run_dir) > 0
    assert run(command(smollm2, run_dir), repository).returncode == 0
    assert content(run_dir) == content(whole)


def test_merged_shards_equal_the_run_of_one_process(
    whole: Path, smollm2: Path, repository: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    killed = kill_at_a_random_moment(
        command(smollm2, out, "--shard 1/2"), repository, out / "shards" / "1-of-2", random.Random(3)
    )
    for index in (2, 1):
        done = run(command(smollm2, out, f"--shard {index}/2"), repository)
        assert done.returncode == 0, done.stderr
        assert done.stdout.rstrip().endswith(f"run folder: {out / 'shards' / f'{index}-of-2'}")
    merge = [sys.executable, "-m", "eval.merge", *map(str, sorted((out / "shards").iterdir())), "--out", str(out)]
    done = run(merge, repository)
    assert done.returncode == 0, done.stderr
    assert killed
    for name in ("rows.jsonl", "summary.json", "table2.md", "table2.json"):
        assert sorted((out / name).read_bytes().splitlines()) == sorted((whole / name).read_bytes().splitlines()), name
    assert [row.id for row in read_rows(out / "rows.jsonl")] == [row.id for row in read_rows(whole / "rows.jsonl")]
