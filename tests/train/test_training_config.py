"""What both kinds of training read in the same way."""

from __future__ import annotations

from typing import Any

import pytest

from eval.config import ConfigError, validate
from train.rl_config import RlConfig
from train.sft_config import SftConfig
from train.training_config import TrainingConfig

SHARED = {"model": "m", "format": "smollm2", "run_dir": "r"}
OWN: dict[type[TrainingConfig], dict[str, Any]] = {
    SftConfig: {"data": "d.jsonl"},
    RlConfig: {"prompts": {"arithmetic": {}}, "rewards": {"gsm8k": {}}, "judge": "local", "max_episodes": 8},
}


@pytest.mark.parametrize("kind", OWN)
def test_numbers_of_trl_are_numbers_however_they_are_written(kind: type[TrainingConfig]) -> None:
    written = {"learning_rate": "1e-4", "max_steps": "20", "bf16": "false", "optim": "adamw_torch", "warmup_steps": 3}
    read = validate(kind, {**SHARED, **OWN[kind], "trl": written}).trl
    numbers = {"learning_rate": 1e-4, "max_steps": 20, "bf16": False, "warmup_steps": 3}
    assert read == {**numbers, "optim": "adamw_torch"} and read["bf16"] is False


@pytest.mark.parametrize("kind", OWN)
@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"lora": None, "dtype": "bfloat16"}, "use dtype float32"),
        ({"probe": {"tasks": {"absent": {}}}}, r"no eval/tasks/absent\.py"),
        ({"probe": {"tasks": {"pocket": {}}}, "parallel": "fsdp2"}, "probe"),
    ],
)
def test_what_cannot_work_is_refused(kind: type[TrainingConfig], fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        validate(kind, {**SHARED, **OWN[kind], **fields})
