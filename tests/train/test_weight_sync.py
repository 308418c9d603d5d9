"""Runs with TRL's vLLM generation in both modes: one whose weights arrive, and ones where they do not.

TRL is itself; vLLM's side is `vllm_stand_ins.py`.
"""

from __future__ import annotations

import os
import runpy
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch

from eval.checks.same_weights import TOLERANCE
from train import rl_training
from train.rl import main
from train.training_log import TrainingLog, read_log
from train.weight_sync import WeightSyncCheck

STAND_INS = runpy.run_path(str(Path(__file__).parent / "vllm_stand_ins.py"))
MODES = ("colocate", "server")

pytestmark = [pytest.mark.integration, pytest.mark.usefixtures("lively")]


def everything(name: str) -> bool:
    return True


def nothing(name: str) -> bool:
    return False


def all_but_queries(name: str) -> bool:
    return "q_proj" not in name


@contextmanager
def own_environment() -> Iterator[None]:
    """Of a process: TRL sets the variables of a launcher for vLLM, which the next one must not find."""
    before = dict(os.environ)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


@pytest.fixture
def run(tiny_folders: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., int]]:
    """(mode, what vLLM takes, architecture, **options) -> exit status of a run of three steps in tmp_path/run."""
    monkeypatch.setattr(rl_training, "installed_vllm", lambda: None)

    def start(mode: str, takes: Any = everything, architecture: str = "llama", **options: Any) -> int:
        folder = tiny_folders[architecture]
        with own_environment(), monkeypatch.context() as patch, ExitStack() as stack:
            server = STAND_INS["stand_in"](patch, mode, folder, takes)
            given = {
                "model": folder,
                "format": "qwen3_5" if architecture == "qwen3_5" else "smollm2",
                "prompts.arithmetic.limit": 8,
                "answer_tokens": 6,
                "user_tokens": 5,
                "max_episodes": 24,
                "rewards.gsm8k.weight": 1,
                "rewards.followup.weight": 1,
                "judge": "grounding",
                "trl.per_device_train_batch_size": 8,
                "trl.num_generations": 4,
                "trl.save_steps": 1,
                "trl.learning_rate": 0.05,
                "trl.use_vllm": "true",
                "trl.vllm_mode": mode,
                "run_dir": tmp_path / "run",
                **options,
            }
            if server is not None:
                given["trl.vllm_server_base_url"] = stack.enter_context(server).url
            return main([token for name, value in given.items() for token in (f"--{name}", str(value))])

    yield start


def synced(folder: Path) -> dict[int, dict[str, float]]:
    """The metrics of each check in the log of a run, by its step."""
    return {line["step"]: line["weight_sync"] for line in read_log(folder / "log.jsonl") if "weight_sync" in line}


def killed_after(monkeypatch: pytest.MonkeyPatch, last: int) -> pytest.MonkeyPatch:
    append = TrainingLog.append

    def killed(self: Any, step: int, metrics: Any) -> None:
        append(self, step, metrics)
        if step == last and "loss" in metrics:
            raise KeyboardInterrupt

    monkeypatch.setattr(TrainingLog, "append", killed)
    return monkeypatch


@pytest.mark.parametrize(
    ("mode", "architecture", "options"),
    [
        ("colocate", "llama", {}),
        ("server", "llama", {}),
        ("colocate", "llama", {"lora": "null"}),
        ("server", "qwen3_5", {}),
    ],
    ids=["colocate", "server", "all weights", "linear attention"],
)
def test_weights_that_arrive_are_checked_once_per_process(
    run: Callable[..., int],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    mode: str,
    architecture: str,
    options: dict[str, Any],
) -> None:
    with monkeypatch.context() as patch:
        killed_after(patch, 2)
        assert run(mode, architecture=architecture, **options) == 130
    assert run(mode, architecture=architecture, **options) == 0
    found = synced(tmp_path / "run")
    assert sorted(found) == [0, 1]  # the checkpoint of step 2 is not there yet when its metrics are logged
    for metrics in found.values():
        assert metrics["allowed"] == TOLERANCE
        assert max(value for name, value in metrics.items() if name != "allowed") < 1e-3
    losses = [line for line in read_log(tmp_path / "run" / "log.jsonl") if "loss" in line]
    assert max(line["grad_norm"] for line in losses) > 0
    assert max(line["sampling/sampling_logp_difference/max"] for line in losses) < 1e-3


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("lora", [{"lora.r": 2}, {"lora": "null"}], ids=["adapters", "all weights"])
def test_the_check_leaves_the_weights_as_they_were(
    run: Callable[..., int], monkeypatch: pytest.MonkeyPatch, mode: str, lora: dict[str, Any]
) -> None:
    check, kept = WeightSyncCheck.__call__, []

    def watched(self: Any, trainer: Any) -> None:
        before = {name: weights.detach().clone() for name, weights in trainer.model.named_parameters()}
        kwargs = dict(trainer.vllm_generation.generation_kwargs), trainer.vllm_generation.max_completion_length
        check(self, trainer)
        after = dict(trainer.model.named_parameters())
        kept.append(all(torch.equal(before[name], after[name]) for name in before) and trainer.model.training)
        assert kwargs == (trainer.vllm_generation.generation_kwargs, trainer.vllm_generation.max_completion_length)

    monkeypatch.setattr(WeightSyncCheck, "__call__", watched)
    assert run(mode, max_episodes=8, **lora) == 0
    assert kept == [True]


@pytest.mark.parametrize("mode", MODES)
def test_a_fresh_run_whose_weights_do_not_arrive_ends(
    run: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str], mode: str
) -> None:
    """vLLM has the weights of the folder, with which the trainer starts, so only perturbed ones show it."""
    assert run(mode, nothing) == 2
    error = capsys.readouterr().err
    assert f"vLLM ({mode}) at step 0: after weights were perturbed and synced, log-probs of a fixed text are" in error
    assert "the same after a weight was perturbed" in error and "set trl.use_vllm false" in error
    assert not (tmp_path / "run" / "episodes.jsonl").read_text()
    assert synced(tmp_path / "run")[0]["difference"] < 1e-3


@pytest.mark.parametrize("mode", MODES)
def test_a_resumed_run_that_samples_with_its_first_weights_ends(
    run: Callable[..., int],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    mode: str,
) -> None:
    with monkeypatch.context() as patch:
        killed_after(patch, 2)
        assert run(mode) == 130
    assert run(mode, nothing) == 2
    error = capsys.readouterr().err
    assert "at step 1: after weights were synced, log-probs of a fixed text differ from transformers' by" in error
    assert synced(tmp_path / "run")[1]["difference"] > TOLERANCE


@pytest.mark.parametrize("mode", MODES)
def test_adapters_that_do_not_arrive_end_a_fresh_run(
    run: Callable[..., int], capsys: pytest.CaptureFixture[str], mode: str
) -> None:
    assert run(mode, all_but_queries) == 2
    assert "after weights were perturbed and synced, log-probs of a fixed text differ" in capsys.readouterr().err


def test_a_sampler_of_transformers_is_not_checked(run: Callable[..., int], tmp_path: Path) -> None:
    assert run("colocate", max_episodes=8, **{"trl.use_vllm": "false"}) == 0
    assert synced(tmp_path / "run") == {}


def test_a_job_that_finds_the_server_on_another_node_resumes(
    run: Callable[..., int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after `scontrol requeue`: another node, and so another address in the configuration."""
    with monkeypatch.context() as patch:
        killed_after(patch, 2)
        assert run("server", **{"trl.vllm_group_port": 51216}) == 130
    assert run("server", **{"trl.vllm_group_port": 51217}) == 0
