"""A global batch is exact on any number of processes that divides it; what a process takes in a pass is derived."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from eval.command_line import load
from eval.config import ConfigError, validate
from train.global_batch import batch_settings, division
from train.grpo_arguments import episodes_per_step, grpo_arguments, steps_per_batch
from train.rl_config import RlConfig
from train.sft_config import SftConfig
from train.trl_arguments import trl_arguments

CONFIGS = Path(__file__).parent.parent.parent / "configs" / "train"
DEFAULTS = {"per_device_train_batch_size": 8}
GRPO = {**DEFAULTS, "num_generations": 8, "generation_batch_size": None, "steps_per_generation": None}


def size_and_passes(*given: Any) -> tuple[int, int]:
    found = batch_settings(*given)
    return found["per_device_train_batch_size"], found["gradient_accumulation_steps"]


@pytest.mark.parametrize(
    ("processes", "bound", "size", "passes"),
    [(1, 8, 8, 4), (1, 2, 2, 16), (1, 5, 4, 8), (2, 8, 8, 2), (4, 8, 8, 1), (8, 8, 4, 1), (16, 8, 2, 1), (32, 8, 1, 1)],
)
def test_a_process_takes_the_largest_size_that_divides_the_batch(processes, bound, size, passes) -> None:
    given = {"per_device_train_batch_size": bound}
    assert size_and_passes(32, given, DEFAULTS, processes) == (size, passes)
    assert batch_settings(None, given, DEFAULTS, processes) == {}


def test_every_division_is_exact() -> None:
    for rows in range(1, 61):
        for processes in (number for number in range(1, rows + 1) if rows % number == 0):
            for bound in (1, 3, 8):
                size, passes = size_and_passes(rows, {"per_device_train_batch_size": bound}, DEFAULTS, processes)
                assert size * processes * passes == rows and size <= bound


@pytest.mark.parametrize(
    ("rows", "processes", "advice"),
    [
        (32, 3, "set it to 30 or 33, or start 2 or 4 processes"),
        (32, 64, "set it to 64, or start 32 processes"),
        (128, 6, "set it to 126 or 132, or start 4 or 8 processes"),
    ],
)
def test_processes_that_cannot_share_a_batch_are_refused_with_what_could(rows, processes, advice) -> None:
    with pytest.raises(ConfigError, match=f"global_batch_size is {rows}, which {processes} processes .*; {advice}"):
        batch_settings(rows, {}, DEFAULTS, processes)


def test_sizes_that_are_advised_hold_whole_groups() -> None:
    with pytest.raises(ConfigError, match="set it to 120 or 144, or start 2 or 4 processes"):
        batch_settings(128, {}, GRPO, 3)


def test_a_rollout_is_a_whole_number_of_passes() -> None:
    assert size_and_passes(128, {"generation_batch_size": 64}, GRPO, 4) == (8, 4)
    assert size_and_passes(128, {"generation_batch_size": 96}, GRPO, 8) == (4, 4)
    with pytest.raises(ConfigError, match=r"trl\.generation_batch_size is 24, which 16 processes"):
        batch_settings(128, {"generation_batch_size": 24}, GRPO, 16)


@pytest.mark.parametrize("name", ["gradient_accumulation_steps", "steps_per_generation"])
def test_what_is_derived_is_not_given(name: str) -> None:
    with pytest.raises(ConfigError, match=rf"trl\.{name} cannot be set beside global_batch_size"):
        batch_settings(32, {name: 4}, GRPO, 1)


def test_null_gives_nothing(tmp_path: Path) -> None:
    least = {"model": "m", "format": "smollm2", "data": "d.jsonl", "run_dir": "r", "global_batch_size": 12}
    trl = {"per_device_train_batch_size": 4, "gradient_accumulation_steps": None}
    made = trl_arguments(validate(SftConfig, {**least, "trl": trl}), tmp_path)
    assert made.gradient_accumulation_steps == 3 and division(made, trl) == "1 process x 4 rows x 3 passes"


@pytest.mark.parametrize("processes", [1, 2, 4, 8, 16])
@pytest.mark.parametrize("name", ["sft_qwen3.5-2b", "rl_qwen3.5-2b", "rl_qwen3.5-2b_server"])
def test_the_default_configurations_start_on_any_usual_number_of_gpus(
    name: str, processes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("transformers.training_args.is_torch_bf16_gpu_available", lambda: True)
    argv = ["--config", str(CONFIGS / f"{name}.yaml")]
    if name.startswith("sft"):
        config = load(SftConfig, argv, prog="", about="")
        made: Any = trl_arguments(config, tmp_path, processes)
    else:
        config = load(RlConfig, argv, prog="", about="")
        made = grpo_arguments(config, tmp_path, 700, processes)
        assert episodes_per_step(made) == made.generation_batch_size == config.global_batch_size
        assert steps_per_batch(made) == 1 and made.max_steps == 200
    size, passes = made.per_device_train_batch_size, made.gradient_accumulation_steps
    assert math.prod((processes, size, passes)) == config.global_batch_size
    assert size == min(config.trl["per_device_train_batch_size"], config.global_batch_size // processes)
    lowered = f"; trl.per_device_train_batch_size allows {config.trl['per_device_train_batch_size']} rows"
    assert division(made, config.trl).endswith(lowered) is (size < config.trl["per_device_train_batch_size"])
    assert made.world_size == processes
