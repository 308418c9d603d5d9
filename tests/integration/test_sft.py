"""End-to-end SFT with real weights in real processes, including kills."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from eval.dialogue import Dialogue, Message
from train.training_log import losses, read_log

pytestmark = pytest.mark.integration

STEPS = 6
SMALL = (
    f"--trl.max-steps {STEPS} --trl.save-steps 2 --trl.per-device-train-batch-size 2 --lora.dropout 0.1 --replay null"
)
THINGS = ("pens", "apples", "books", "stones", "cups", "maps")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data") / "conversations.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for number, thing in enumerate(THINGS * 2):
            turns = (
                Message("user", f"Tom has {number + 3} {thing} and gets 4 more. How many?"),
                Message("assistant", f"He has {number + 3} + 4 = {number + 7} {thing}."),
                Message("user", f"Is it still {number + 7} if he loses one of the {thing} first?"),
            )
            file.write(json.dumps(Dialogue("collab", turns).to_json()) + "\n")
    return path


def command(smollm2: Path, data: Path, run_dir: Path, extra: str = "") -> list[str]:
    fixed = ["--config", "configs/train/sft_smollm2.yaml", "--probe", "null"]
    given = ["--model", str(smollm2), "--data", str(data), "--run-dir", str(run_dir)]
    return [sys.executable, "-m", "train.sft", *fixed, *given, *SMALL.split(), *extra.split()]


def run(arguments: list[str], repository: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(arguments, cwd=repository, capture_output=True, text=True, timeout=900)


@pytest.fixture(scope="module")
def whole(smollm2: Path, data: Path, repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an uninterrupted run."""
    run_dir = tmp_path_factory.mktemp("whole") / "run"
    done = run(command(smollm2, data, run_dir), repository)
    assert done.returncode == 0, done.stderr
    assert done.stdout.rstrip().endswith(f"run folder: {run_dir}")
    return run_dir


def test_the_loss_falls_and_the_model_can_be_probed(whole: Path, repository: Path, tmp_path: Path) -> None:
    by_step = losses(whole / "log.jsonl")
    assert list(by_step) == list(range(1, STEPS + 1)) and by_step[STEPS] < by_step[1]
    small = "--tasks.pocket.limit 2 --tasks.arithmetic null --answers.max-tokens 16 --sampling.max-tokens 16"
    fixed = [
        "--config",
        "configs/demo/probe.yaml",
        "--model",
        str(whole / "model"),
        "--run-dir",
        str(tmp_path / "probe"),
    ]
    done = run([sys.executable, "-m", "eval.probe", *fixed, *small.split()], repository)
    assert done.returncode == 0, done.stderr
    digest = json.loads((whole / "summary.json").read_text())["model"].partition("@")[2]
    assert json.loads((tmp_path / "probe" / "manifest.json").read_text())["protocol"]["model"] == f"model@{digest}"


def tokens(log: Path) -> dict[int, int]:
    """Step -> tokens read up to it."""
    return {line["step"]: line["num_tokens"] for line in read_log(log) if "num_tokens" in line}


def test_a_killed_run_resumes_to_the_same_result(
    whole: Path, smollm2: Path, data: Path, repository: Path, tmp_path: Path
) -> None:
    step, run_dir, log = 3, tmp_path / "run", tmp_path / "run" / "log.jsonl"
    arguments = command(smollm2, data, run_dir)
    with subprocess.Popen(arguments, cwd=repository, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        deadline = time.monotonic() + 600
        while not log.exists() or len(log.read_bytes().splitlines()) < step:
            assert process.poll() is None, process.stderr and process.stderr.read()
            assert time.monotonic() < deadline, "no step within ten minutes"
            time.sleep(0.02)
        os.kill(process.pid, signal.SIGKILL)
    assert not (run_dir / "summary.json").exists()
    done = run(arguments, repository)
    assert done.returncode == 0, done.stderr
    steps = [line["step"] for line in read_log(log)]
    assert steps[-1] == STEPS and steps[step] <= step + 1
    assert losses(log) == pytest.approx(losses(whole / "log.jsonl"), abs=1e-6)
    assert tokens(log) == tokens(whole / "log.jsonl")


def test_wandb_offline_continues_the_same_run_after_a_restart(
    smollm2: Path, data: Path, repository: Path, tmp_path: Path
) -> None:
    pytest.importorskip("wandb")
    arguments = command(smollm2, data, tmp_path / "run", "--trl.max-steps 1 --report-to wandb --report-to.project p")
    assert run(arguments, repository).returncode == 0
    (tmp_path / "run" / "summary.json").unlink()
    done = run(arguments, repository)
    assert done.returncode == 0, done.stderr
    run_id = (tmp_path / "run" / "wandb_run_id").read_text().strip()
    folders = list((tmp_path / "run" / "wandb").glob("offline-run-*"))
    assert len(folders) == 2 and all(folder.name.endswith(run_id) for folder in folders)
    assert all(list(folder.glob("*.wandb")) for folder in folders)
