"""Training with DDP, ZeRO-2 and ZeRO-3 on two gloo processes matches one process, on a tiny Qwen3.5.

The same global batch gives the same losses and gradients within a relative tolerance of 1e-3: sums run in another
order, and the optimizer divides small gradients by their size. Each run is also resumed from a checkpoint mid-run.
"""

from __future__ import annotations

import functools
import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from eval.dialogue import Dialogue, Message
from eval.rows import read_rows
from eval.weights import check_model_folder
from train.checkpoints import SEAL
from train.training_log import losses, read_log

pytestmark = [pytest.mark.integration, pytest.mark.timeout(1800)]

STEPS, TOLERANCE = 4, 1e-3
TRAINED = {"adapters": ["--lora.r", "4"], "all": ["--lora", "null"]}
ENVIRONMENT = {"OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eleven conversations, so that the last batch is incomplete."""
    path = tmp_path_factory.mktemp("data") / "conversations.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for number in range(11):
            turns = (
                Message("user", f"Tom has {number + 3} pens{' and more' * (number % 4)}. He gets 4. How many?"),
                Message("assistant", f"He has {number + 3} + 4 = {number + 7} pens."),
                Message("user", f"Is it still {number + 7} if he loses one of the pens first?"),
            )
            file.write(json.dumps(Dialogue("collab", turns).to_json()) + "\n")
    return path


@pytest.fixture(scope="module")
def sft(tiny: Path, data: Path) -> list[str]:
    """Arguments of an SFT run whose epoch is two steps, the second incomplete."""
    given = {
        "model": tiny,
        "format": "qwen3_5",
        "data": data,
        "global-batch-size": 8,
        "trl.per-device-train-batch-size": 2,
        "trl.learning-rate": 0.01,
        "trl.num-train-epochs": 2,
        "trl.max-steps": STEPS,
        "trl.save-steps": 1,
        "probe.every": 2,
        "probe.tasks.pocket.limit": 2,
        "probe.answers.max-tokens": 4,
        "probe.sampling.max-tokens": 4,
    }
    return ["-m", "train.sft", *_options(given)]


@pytest.fixture(scope="module")
def rl(tiny: Path) -> list[str]:
    given = {
        "model": tiny,
        "format": "qwen3_5",
        "prompts.arithmetic.limit": 12,
        "answer-tokens": 12,
        "user-tokens": 12,
        "temperature": 1.0,
        "max-episodes": 16 * STEPS,
        "rewards.gsm8k.weight": 1,
        "rewards.followup.rate": "specific",
        "judge": "grounding",
        "lora.r": 4,
        "global-batch-size": 16,
        "trl.per-device-train-batch-size": 4,
        "trl.num-generations": 8,
        "trl.learning-rate": 0.001,
        "trl.beta": 0.05,
        "trl.save-steps": 1,
    }
    return ["-m", "train.rl", *_options(given)]


def _options(given: dict[str, Any]) -> list[str]:
    return [token for name, value in given.items() for token in (f"--{name}", str(value))]


def torchrun() -> list[str]:
    return [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "--master-port", _free_port()]


def accelerate_launch(kind: str) -> list[str]:
    launch = [sys.executable, "-m", "accelerate.commands.launch", "--config_file", f"configs/accelerate/{kind}.yaml"]
    return [*launch, "--num_processes", "2", "--main_process_port", _free_port()]


def _free_port() -> str:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        return str(bound.getsockname()[1])


def complete(command: list[str], repository: Path, run_dir: Path) -> Path:
    """Run to completion; returns the run folder."""
    done = subprocess.run(
        [*command, "--run-dir", str(run_dir)],
        cwd=repository,
        capture_output=True,
        text=True,
        timeout=900,
        env={**os.environ, **ENVIRONMENT},
    )
    assert done.returncode == 0 and (run_dir / "summary.json").exists(), done.stderr[-3000:]
    return run_dir


def over_two_processes(kind: str, command: list[str], repository: Path, run_dir: Path) -> Path:
    """The folder of a run that was rolled back before its last step and resumed with another launcher."""
    given = [*command, "--parallel", kind]
    complete([*torchrun(), *given], repository, run_dir)
    roll_back(run_dir)
    complete([*accelerate_launch(kind), *given], repository, run_dir)
    made = [line["step"] for line in read_log(run_dir / "log.jsonl") if "loss" in line]
    assert made == [1, 2, 3, 4, 4]
    return run_dir


def roll_back(run_dir: Path) -> None:
    """Leave the state of a kill in the last step, mid-epoch: the checkpoint of that step is incomplete."""
    (run_dir / "summary.json").unlink()
    for name in ("model", "adapters"):
        shutil.rmtree(run_dir / name, ignore_errors=True)
    (run_dir / "checkpoints" / f"checkpoint-{STEPS}" / SEAL).unlink()


def alone(command: list[str], repository: Path, run_dir: Path) -> Path:
    """The folder of an uninterrupted run in one process."""
    return complete([sys.executable, *command], repository, run_dir)


@pytest.fixture(scope="module")
def sft_alone(sft: list[str], repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """What is trained ("adapters" or "all") -> the folder of the run."""
    folders = tmp_path_factory.mktemp("sft")
    return functools.cache(lambda trained: alone([*sft, *TRAINED[trained]], repository, folders / trained))


@pytest.fixture(scope="module")
def rl_alone(rl: list[str], repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return alone(rl, repository, tmp_path_factory.mktemp("rl") / "run")


@pytest.mark.parametrize(
    ("kind", "trained"), [("ddp", "adapters"), ("zero2", "adapters"), ("zero3", "adapters"), ("zero3", "all")]
)
def test_fine_tuning(
    kind: str,
    trained: str,
    sft: list[str],
    sft_alone: Callable[[str], Path],
    tiny: Path,
    deepspeed: None,
    repository: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    run_dir, command = tmp_path / "run", [*sft, *TRAINED[trained]]
    undisturbed = sft_alone(trained)
    over_two_processes(kind, command, repository, run_dir)
    assert list(losses(undisturbed / "log.jsonl")) == list(range(1, STEPS + 1))
    assert_same_figures(undisturbed, run_dir, ("loss", "grad_norm", "learning_rate"))
    assert_same_model(tiny, undisturbed, run_dir)
    assert_probed_by_one_process(undisturbed, run_dir)
    assert probe(run_dir) == 0
    assert train_sft([*command[2:], "--run-dir", str(run_dir), "--parallel", kind]) == 2
    assert "a run of 2 processes, and now there are 1" in capsys.readouterr().err


def assert_same_figures(single: Path, double: Path, names: Sequence[str]) -> None:
    """For every step, including the repeated one."""
    expected = {line["step"]: line for line in read_log(single / "log.jsonl") if "loss" in line}
    for line in (line for line in read_log(double / "log.jsonl") if "loss" in line):
        for name in names:
            at = expected[line["step"]][name]
            assert line[name] == pytest.approx(at, rel=TOLERANCE, abs=1e-5), (line["step"], name)


def assert_same_model(base: Path, single: Path, double: Path) -> None:
    """The weight changes of both runs differ by less than 1 % of the change."""
    from safetensors.torch import load_file

    check_model_folder(double / "model")
    before, expected, found = (load_file(at / "model.safetensors") for at in (base, single / "model", double / "model"))
    assert expected.keys() == found.keys()
    change = sum((expected[name] - before[name]).square().sum() for name in expected)
    difference = sum((expected[name] - found[name]).square().sum() for name in expected)
    assert 0 < difference + 1e-12 < 1e-4 * change


def assert_probed_by_one_process(single: Path, double: Path) -> None:
    """Same rows at the same steps, same result before the first step; a repeated step is not probed again.

    Later results may differ: a difference in the last digits can change which of two near-tied tokens is sampled.
    """
    expected, found = (
        {line["step"]: line["probe"] for line in read_log(folder / "log.jsonl") if "probe" in line}
        for folder in (single, double)
    )
    assert list(expected) == list(found) == [0, 2, 4] and found[0] == expected[0]
    written = [
        {path.relative_to(folder): len(path.read_bytes().splitlines()) for path in folder.glob("probes/*/rows.jsonl")}
        for folder in (single, double)
    ]
    assert len(written[0]) == 3 and written[0] == written[1]


def probe(run_dir: Path) -> int:
    from eval.probe import main

    given = {
        "model": run_dir / "model",
        "format": "qwen3_5",
        "tasks.pocket.limit": 1,
        "answers.max-tokens": 2,
        "sampling.max-tokens": 2,
        "run-dir": run_dir.parent / "probe",
    }
    return main(_options(given))


def train_sft(arguments: list[str]) -> int:
    from train.sft import main

    return main(arguments)


@pytest.mark.parametrize("kind", ["ddp", "zero2", "zero3"])
def test_reinforcement(
    kind: str, rl: list[str], rl_alone: Path, tiny: Path, deepspeed: None, repository: Path, tmp_path: Path
) -> None:
    run_dir = over_two_processes(kind, rl, repository, tmp_path / "run")
    assert any(line["grad_norm"] > 0 for line in read_log(rl_alone / "log.jsonl"))
    # Not kl and entropy: TRL averages the means of micro-batches, which contain other rows here.
    assert_same_figures(rl_alone, run_dir, ("loss", "grad_norm", "learning_rate", "rewards/followup/mean", "reward"))
    episodes = [
        {row.id: row.messages for row in read_rows(folder / "episodes.jsonl")} for folder in (rl_alone, run_dir)
    ]
    assert episodes[0] == episodes[1]
    assert_same_model(tiny, rl_alone, run_dir)
