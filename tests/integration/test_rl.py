"""End-to-end RL with real weights in real processes, including kills; two processes match one."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from eval.rows import read_rows
from train.checkpoints import last_checkpoint
from train.training_log import read_log

pytestmark = pytest.mark.integration

STEPS = 3
SMALL = (
    f"--max-episodes {8 * STEPS} --answer-tokens 24 --user-tokens 16 --probe null --accuracy-price null "
    "--trl.per-device-train-batch-size 4 --trl.gradient-accumulation-steps 2 --trl.num-generations 4 "
    "--trl.save-steps 1 --trl.beta 0.05 --prompts.arithmetic.limit 12"
)
TIMED = {"step_time", "num_tokens"}
LIKELY = "Why does he keep 7 pens? How many pens does Tom have?"
"""Tokens that the random model prefers, in any order, so that some of its turns get a reward."""


@pytest.fixture(scope="module")
def talkative(smollm2_tokenizer: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tiny random model that prefers a few words and ends its turns early."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    sizes = {"hidden_size": 32, "intermediate_size": 48, "num_attention_heads": 4, "num_key_value_heads": 2}
    config = LlamaConfig(vocab_size=len(smollm2_tokenizer), num_hidden_layers=2, max_position_embeddings=512, **sizes)
    model = LlamaForCausalLM(config).eval()
    stop = smollm2_tokenizer.convert_tokens_to_ids("<|im_end|>")
    with torch.no_grad():
        hidden = model.model(torch.randint(len(smollm2_tokenizer), (8, 64))).last_hidden_state.mean(dim=(0, 1))
        for token, logit in [(stop, 13.0), *((token, 7.0) for token in smollm2_tokenizer.encode(LIKELY))]:
            model.lm_head.weight[token] += logit * hidden / hidden.square().sum()
    folder = tmp_path_factory.mktemp("talkative")
    model.save_pretrained(folder)
    smollm2_tokenizer.save_pretrained(folder)
    return folder


def command(model: Path, run_dir: Path, extra: str = "") -> list[str]:
    fixed = ["--config", "configs/train/rl_smollm2.yaml", "--model", str(model), "--run-dir", str(run_dir)]
    return ["-m", "train.rl", *fixed, *SMALL.split(), *extra.split()]


def run(arguments: list[str], repository: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        arguments, cwd=repository, capture_output=True, text=True, timeout=900, env={**os.environ, **environment}
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done


def metrics(run_dir: Path) -> dict[int, dict[str, Any]]:
    """The last metrics of each step, without times."""
    lines = {line["step"]: line for line in read_log(run_dir / "log.jsonl")}
    return {step: {k: v for k, v in line.items() if k not in TIMED} for step, line in lines.items()}


@pytest.fixture(scope="module")
def whole(smollm2: Path, repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an uninterrupted run with real weights."""
    run_dir = tmp_path_factory.mktemp("whole") / "run"
    done = run([sys.executable, *command(smollm2, run_dir)], repository)
    assert done.stdout.rstrip().endswith(f"run folder: {run_dir}")
    return run_dir


def test_the_policy_moves_and_can_be_probed(whole: Path, repository: Path, tmp_path: Path) -> None:
    by_step = metrics(whole)
    assert list(by_step) == list(range(1, STEPS + 1))
    assert any(line["grad_norm"] > 0 for line in by_step.values()) and by_step[STEPS]["kl"] > 0
    small = "--tasks.pocket.limit 2 --tasks.arithmetic null --answers.max-tokens 16 --sampling.max-tokens 16"
    fixed = [
        "--config",
        "configs/demo/probe.yaml",
        "--model",
        str(whole / "model"),
        "--run-dir",
        str(tmp_path / "probe"),
    ]
    run([sys.executable, "-m", "eval.probe", *fixed, *small.split()], repository)


def test_a_killed_run_resumes_to_the_same_result(talkative: Path, repository: Path, tmp_path: Path) -> None:
    step, uninterrupted, run_dir = 2, tmp_path / "uninterrupted", tmp_path / "killed"
    log = run_dir / "log.jsonl"
    run([sys.executable, *command(talkative, uninterrupted)], repository)
    arguments = [sys.executable, *command(talkative, run_dir)]
    with subprocess.Popen(arguments, cwd=repository, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        deadline = time.monotonic() + 600
        while not log.exists() or len(log.read_bytes().splitlines()) < step:
            assert process.poll() is None, process.stderr and process.stderr.read()
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
    assert not (run_dir / "summary.json").exists()
    run(arguments, repository)
    resumed, expected = metrics(run_dir), metrics(uninterrupted)
    assert list(resumed) == list(expected)
    for number, line in expected.items():
        assert resumed[number] == pytest.approx(line, rel=1e-5, abs=1e-7, nan_ok=True), number
    said = [[row.messages for row in read_rows(folder / "episodes.jsonl")] for folder in (uninterrupted, run_dir)]
    assert sorted(map(str, said[0])) == sorted(map(str, said[1]))


def test_two_processes_match_one(talkative: Path, repository: Path, tmp_path: Path) -> None:
    """Half of the global batch per process gives the same episodes, rewards, losses and gradients."""
    one, two = tmp_path / "one", tmp_path / "two"
    given = f"--max-episodes {16 * STEPS} --temperature 1.0 --trl.learning-rate 0.003 --trl.num-generations 8"
    whole_batch, half_of_it = (
        f"{given} --trl.gradient-accumulation-steps 1 --trl.per-device-train-batch-size {rows}" for rows in (16, 8)
    )
    run([sys.executable, *command(talkative, one, whole_batch)], repository)
    launch = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "--master-port", "29583"]
    run([*launch, *command(talkative, two, half_of_it)], repository, ACCELERATE_USE_CPU="true", OMP_NUM_THREADS="1")
    single, double = metrics(one), metrics(two)
    assert list(single) == list(double) == list(range(1, STEPS + 1))
    for step, line in single.items():
        assert line["grad_norm"] > 0
        for name in ("loss", "grad_norm", "kl", "entropy", "genuine_share", "rewards/followup/mean", "reward"):
            assert double[step][name] == pytest.approx(line[name], rel=1e-5, abs=1e-5), (step, name)
    said = [[row.messages for row in read_rows(folder / "episodes.jsonl")] for folder in (one, two)]
    assert said[0] == said[1]
    assert json.loads((two / "summary.json").read_text())["steps"] == STEPS
    assert last_checkpoint(two / "checkpoints").name == f"checkpoint-{STEPS}"  # sealed once both processes have written
