"""What the server of Weights & Biases gets, from runs that are online and from `wandb sync`: a stand-in answers."""

from __future__ import annotations

import os
import re
import runpy
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("wandb")
STAND_IN = runpy.run_path(str(Path(__file__).with_name("wandb_stand_in.py")))
STEPS = [1, 2, 3, 2, 3, 4, 5]
"""Of a run that was killed after its third step, and resumed after its first."""

RUN = """
import logging, sys
from pathlib import Path
from eval.config import Plugin
from eval.tracker import Content, TrackedRun, open_tracker
from eval.trackers import wandb as ours

logging.basicConfig(level=logging.WARNING, format="%(message)s")
ours.FINISH_S = float(sys.argv[3])
opened = open_tracker(Plugin(name="wandb", project="p", group="g"), TrackedRun("SFT", "sft", Path(sys.argv[1]), {}))
opened.used([Content("dataset", "ab" * 32, "data/x.jsonl")])
for step in map(int, sys.argv[2].split(",")):
    opened.log(step, {"loss": 1 / step})
opened.table(0, "shown", ("a", "b"), [["x", 1], [2, None]])
opened.made([Content("model", "cd" * 32, "runs/x/model")])
opened.close()
"""


@pytest.fixture
def server() -> Iterator[Any]:
    with STAND_IN["serving"]() as server:
        yield server


@pytest.fixture
def execute(repository: Path, tmp_path: Path, server):
    """(command, key=...) -> what it prints; wandb reads its environment once in a process, so each has its own."""

    def run(command: list[str], key: str | None = "k" * 40) -> str:
        told = {name: value for name, value in os.environ.items() if not name.startswith("WANDB_")}
        told |= {"WANDB_BASE_URL": server.url, "NETRC": str(tmp_path / "netrc"), "HOME": str(tmp_path)}
        told |= {"WANDB_API_KEY": key} if key else {}
        told |= {"no_proxy": "127.0.0.1", "PYTHONPATH": str(repository)}
        done = subprocess.run(command, cwd=tmp_path, env=told, capture_output=True, text=True, timeout=240)
        assert done.returncode == 0, done.stderr
        return done.stdout + done.stderr

    return run


def segment(steps: list[int], finish_s: float = 60) -> list[str]:
    """A process of the run in the folder `run`."""
    Path("run").mkdir(exist_ok=True)
    return [sys.executable, "-c", RUN, "run", ",".join(map(str, steps)), str(finish_s)]


@pytest.fixture(autouse=True)
def in_tmp_path(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)


def told_command(printed: str) -> list[str]:
    """The `wandb sync` command that a warning names."""
    found = re.findall(r"`(wandb sync [^`]+)`", printed)
    assert found, printed
    return [str(Path(sys.executable).with_name("wandb")), *shlex.split(found[-1])[1:]]


def run_of(server) -> str:
    """The id of the one run that the server knows."""
    (run,) = server.runs
    assert run == Path("run/wandb_run_id").read_text().strip()
    return run


def steps_of(server) -> list[int]:
    return [line["train/global_step"] for line in server.history(run_of(server)) if "loss" in line]


def test_offline_segments_of_one_run_are_synced_in_order_and_lose_no_point(server, execute) -> None:
    execute(segment(STEPS[:3]), key=None)
    printed = execute(segment(STEPS[3:]), key=None)
    assert not server.runs
    execute(told_command(printed))
    assert steps_of(server) == STEPS
    run = server.runs[run_of(server)]
    assert (run["groupName"], run["jobType"], run["displayName"], run["project"]) == ("g", "sft", "SFT", "p")
    assert {name for _, name in server.used} == {"dataset-abababababab"}
    assert {"model-cdcdcdcdcdcd", "dataset-abababababab"} <= {name for _, name in server.made}
    assert "No runs to sync" in execute(told_command(printed))
    execute(segment([6]), key=None)
    execute(["find", "run", "-name", "*.wandb", "-exec", *told_command(printed)[:2], "{}", "+"])
    assert steps_of(server) == [*STEPS, 6]


def test_a_run_that_is_online_again_after_an_offline_segment_loses_no_point(server, execute) -> None:
    assert "wandb sync" not in execute(segment([1, 2]))
    server.status = 403
    printed = execute(segment([3, 4]))
    assert "wandb: " in printed and "metrics are kept offline" in printed
    server.status = 200
    execute(segment([5]))
    execute(told_command(printed))
    assert steps_of(server) == [1, 2, 5, 3, 4]


def test_the_end_of_a_run_does_not_wait_for_a_server_that_stalls(server, execute) -> None:
    server.stalled.set()
    printed = execute(segment([1, 2], finish_s=3))
    assert "wandb did not send everything in 3 s" in printed
    server.stalled.clear()
    execute(told_command(printed))
    assert steps_of(server) == [1, 2]
