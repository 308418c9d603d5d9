"""Settings that reach TRL, settings that are refused and why, and the number of steps."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from eval.command_line import load
from eval.config import ConfigError, validate
from train.grpo_arguments import OURS, REFUSED, episodes_per_step, grpo_arguments, steps_per_batch
from train.rl_config import RlConfig


def arguments(max_episodes: int = 64, judge_s: float = 10, **trl: Any) -> Any:
    given = {
        "model": "models/x",
        "format": "smollm2",
        "prompts": {"arithmetic": {}},
        "max_episodes": max_episodes,
        "rewards": {"gsm8k": {}},
        "judge": "local",
        "judge_s": judge_s,
        "temperature": 0.7,
        "trl": {"per_device_train_batch_size": 8, "num_generations": 4, **trl},
        "run_dir": "runs/x",
    }
    return grpo_arguments(validate(RlConfig, given), Path("runs/x/checkpoints"), 100)


def test_settings_go_through_and_ours_are_filled_in() -> None:
    found = arguments(learning_rate=3e-4, beta=0.1, loss_type="dr_grpo", epsilon=0.3)
    assert (found.learning_rate, found.beta, found.loss_type, found.epsilon) == (3e-4, 0.1, "dr_grpo", 0.3)
    assert (found.temperature, found.max_completion_length, found.max_steps) == (0.7, 100, 8)
    assert (found.top_p, found.top_k, found.min_p, found.repetition_penalty) == (1.0, 0, None, 1.0)
    assert found.vllm_importance_sampling_mode == "token_truncate" and found.disable_dropout


@pytest.mark.parametrize("name", ["top_p", "top_k", "min_p", "repetition_penalty", "generation_kwargs"])
def test_sampling_that_biases_the_importance_ratio_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match=rf"trl.{name} cannot be set: .*biases the importance ratio"):
        arguments(**{name: 0.9})


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_what_is_refused_exists_in_trl(name: str) -> None:
    from trl import GRPOConfig

    assert hasattr(GRPOConfig("x", bf16=False), name)
    with pytest.raises(ConfigError, match=f"trl.{name} cannot be set"):
        arguments(**{name: True})


@pytest.mark.parametrize("name", sorted(OURS))
def test_what_another_field_has_is_not_set_here(name: str) -> None:
    with pytest.raises(ConfigError, match=f"trl.{name} is not set here"):
        arguments(**{name: 1})


def test_an_unknown_setting_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"unknown key 'learning_rat' in trl.*learning_rate"):
        arguments(learning_rat=1.0)


@pytest.mark.parametrize(
    ("trl", "steps"),
    [
        ({}, 8),
        ({"gradient_accumulation_steps": 2}, 4),
        ({"num_iterations": 2}, 16),
        ({"steps_per_generation": 4, "save_steps": 4}, 8),
        ({"per_device_train_batch_size": 24}, 2),
    ],
)
def test_steps_are_as_many_as_the_episodes_allow(trl: dict[str, Any], steps: int) -> None:
    assert arguments(**trl).max_steps == steps


def test_fewer_episodes_than_a_step_has_are_refused() -> None:
    with pytest.raises(ConfigError, match="max_episodes is 7, and a step has 8"):
        arguments(max_episodes=7)


def test_a_checkpoint_between_two_uses_of_the_same_episodes_is_refused() -> None:
    assert arguments(num_iterations=4, save_steps=8).save_steps == 8
    with pytest.raises(ConfigError, match=r"trl\.save_steps is 6, and 4 steps use the same episodes"):
        arguments(num_iterations=4, save_steps=6)


@pytest.mark.parametrize(
    ("settings", "steps"),
    [
        ({}, 1),
        ({"num_iterations": 2}, 2),
        ({"steps_per_generation": 4, "save_steps": 4}, 4),
        ({"gradient_accumulation_steps": 4}, 1),
        ({"gradient_accumulation_steps": 4, "steps_per_generation": 2}, 1),
        ({"gradient_accumulation_steps": 2, "steps_per_generation": 3, "save_steps": 6}, 3),
    ],
)
def test_new_episodes_are_sampled_after_so_many_steps(settings: dict[str, Any], steps: int) -> None:
    """In the last case after one step and a half: a batch and a step end together every three steps."""
    assert steps_per_batch(arguments(**settings)) == steps


def test_incomplete_groups_are_refused() -> None:
    with pytest.raises(ConfigError, match="divisible by num_generations"):
        arguments(num_generations=3)


def test_a_judge_must_be_done_before_processes_give_up_on_each_other() -> None:
    with pytest.raises(ConfigError, match=r"judge_s is 4000 s.*ddp_timeout"):
        arguments(judge_s=4000)


CONFIGS = Path(__file__).parent.parent.parent / "configs" / "train"
QWEN = {"colocate": CONFIGS / "rl_qwen3.5-2b.yaml", "server": CONFIGS / "rl_qwen3.5-2b_server.yaml"}


@pytest.mark.parametrize("mode", QWEN)
def test_the_committed_configurations_with_vllm_are_arguments_of_trl(mode: str, monkeypatch: Any) -> None:
    monkeypatch.setattr("transformers.training_args.is_torch_bf16_gpu_available", lambda: True)
    config = load(RlConfig, ["--config", str(QWEN[mode])], prog="", about="")
    found = grpo_arguments(config, Path("runs/x/checkpoints"), 700)
    assert (found.use_vllm, found.vllm_mode, found.vllm_importance_sampling_correction) == (True, mode, True)
    assert found.vllm_importance_sampling_mode == "token_truncate" and not found.vllm_enable_sleep_mode
    assert (found.vllm_server_base_url is None) is (mode == "colocate")
    assert episodes_per_step(found) == 128 and found.max_steps == 200


def test_the_two_configurations_with_vllm_train_the_same() -> None:
    beside, apart = (load(RlConfig, ["--config", str(path)], prog="", about="").model_dump() for path in QWEN.values())
    for values in (beside, apart):
        values["trl"] = {name: value for name, value in values["trl"].items() if not name.startswith("vllm_")}
        del values["run_dir"]
    assert beside == apart


def test_the_job_with_a_server_gives_settings_that_trl_has(repository: Path) -> None:
    job = (repository / "slurm" / "rl_server.sh").read_text(encoding="utf-8")
    given = re.findall(r'(trl\.\w+)=([^"\s]+)', job)
    assert {"trl.vllm_mode", "trl.vllm_server_base_url", "trl.vllm_group_port"} <= dict(given).keys()
    values = [f"{name}={51300 if value == '$GROUP_PORT' else value}" for name, value in given]
    found = grpo_arguments(
        load(RlConfig, ["--config", str(QWEN["server"]), *values], prog="", about=""), Path("x"), 700
    )
    assert found.vllm_mode == "server" and found.vllm_group_port == 51300
