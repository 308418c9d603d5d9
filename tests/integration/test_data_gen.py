"""End-to-end data generation in real processes, including kills."""

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

pytestmark = pytest.mark.integration

FILES = ("conversations.jsonl", "rejects.jsonl", "solutions.jsonl", "README.md")
KILLS = 12


def command(folder: Path, extra: str = "") -> list[str]:
    fixed = ["--config", "configs/demo/data_gen.yaml", "--conversations", "300", "--out-dir", str(folder)]
    return [sys.executable, "-m", "data_gen.run", *fixed, *extra.split()]


def run(arguments: list[str], repository: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(arguments, cwd=repository, capture_output=True, text=True, timeout=600)


def content(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in FILES}


def manifest(folder: Path) -> dict:
    """The manifest without its time and without the git state, which may change during the tests."""
    return {**json.loads((folder / "manifest.json").read_text()), "finished": None, "git": None}


@pytest.fixture(scope="module")
def whole(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data set of an uninterrupted run."""
    folder = tmp_path_factory.mktemp("whole") / "set"
    done = run(command(folder), repository)
    assert done.returncode == 0, done.stderr
    return folder


def lines(folder: Path) -> int:
    files = [folder / "work" / name for name in ("made.jsonl", "judged.jsonl")]
    return sum(path.read_bytes().count(b"\n") for path in files if path.exists())


def kill_at_a_random_moment(arguments: list[str], repository: Path, folder: Path, moment: random.Random) -> bool:
    """SIGKILL after a random time, or shortly after the next row; False if the run had already ended."""
    process = subprocess.Popen(arguments, cwd=repository, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if moment.random() < 0.5:
        end = time.monotonic() + moment.uniform(0, 6)
        while time.monotonic() < end and process.poll() is None:
            time.sleep(0.01)
    else:
        start = lines(folder)
        while lines(folder) == start and process.poll() is None:
            time.sleep(0.002)
        time.sleep(moment.uniform(0, 0.3))
    over = process.poll() is not None
    if not over:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    return not over


def test_kills_at_random_moments_lose_and_change_nothing(whole: Path, repository: Path, tmp_path: Path) -> None:
    moment, folder = random.Random(7), tmp_path / "set"
    kept = 0
    for _ in range(KILLS):
        killed = kill_at_a_random_moment(command(folder), repository, folder, moment)
        assert killed or (folder / "manifest.json").is_file()
        assert lines(folder) >= kept, "a written row was lost"
        kept = lines(folder)
        if (folder / "manifest.json").is_file():
            assert content(folder) == content(whole), "a manifest marks a complete data set"
    done = run(command(folder), repository)
    assert done.returncode == 0, done.stderr
    assert content(folder) == content(whole)
    assert manifest(folder) == manifest(whole)
    assert run(command(folder), repository).returncode == 0
    assert content(folder) == content(whole)


def test_control_c_exits_with_130_and_the_run_resumes(whole: Path, repository: Path, tmp_path: Path) -> None:
    folder = tmp_path / "set"
    process = subprocess.Popen(
        command(folder), cwd=repository, stderr=subprocess.PIPE, text=True, stdout=subprocess.PIPE
    )
    while lines(folder) < 20 and process.poll() is None:
        time.sleep(0.002)
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=60)
    assert process.returncode == 130 and "stopped; every finished row is kept" in error and "Traceback" not in error
    assert not (folder / "manifest.json").exists()
    assert run(command(folder), repository).returncode == 0
    assert content(folder) == content(whole)


def test_the_data_set_loads_with_the_hubs_loader(whole: Path, tmp_path: Path) -> None:
    code = f"""
from datasets import load_dataset
from data_gen.features import load_file
from pathlib import Path
for name in ("conversations", "solutions", "rejects"):
    theirs = load_dataset({str(whole)!r}, name, split="train", cache_dir={str(tmp_path)!r})
    ours = load_file(Path({str(whole)!r}), name)
    assert theirs.features == ours.features and list(theirs) == list(ours), name
    print(len(ours))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    names = ("conversations.jsonl", "solutions.jsonl", "rejects.jsonl")
    assert [int(count) for count in done.stdout.split()] == [content(whole)[name].count(b"\n") for name in names]
