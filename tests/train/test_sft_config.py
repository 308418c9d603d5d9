"""Settings that do not work are refused when the configuration is read."""

from __future__ import annotations

import subprocess
import sys

import pytest

from eval.config import ConfigError, dump, validate
from train.sft_config import SftConfig

LEAST = {"model": "m", "format": "smollm2", "data": "d.jsonl", "run_dir": "r"}


def config(**fields) -> SftConfig:
    return validate(SftConfig, {**LEAST, **fields})


def test_it_survives_being_written_and_read():
    import yaml

    told = {"name": "wandb", "project": "p"}
    made = config(trl={"learning_rate": "1e-4"}, probe={"tasks": {"pocket": {}}}, report_to=told)
    assert validate(SftConfig, yaml.safe_load(dump(made))) == made


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"train_onn": "user"}, r"unknown key 'train_onn'.*Did you mean train_on\?"),
        ({"train_on": "system"}, "train_on = 'system'"),
        ({"format": "qwen9"}, r"no eval/formats/qwen9\.py"),
        ({"format": {"name": "smollm2", "history": "as_last"}}, "unknown key 'history' in format"),
        ({"lora": None, "dtype": "bfloat16"}, "most updates are smaller than bfloat16 can represent"),
        ({"replay": {"path": "x", "share": 1.0}}, "replay.share = 1.0"),
        ({"lora": {"rank": 8}}, "unknown key 'rank' in lora; known are r, alpha, dropout, targets"),
        ({"probe": {"tasks": {"gsm9k": {}}}}, r"no eval/tasks/gsm9k\.py"),
        ({"probe": {"tasks": {"gsm8k": {"limt": 3}}}}, r"unknown key 'limt'.*Did you mean limit\?"),
        ({"probe": {"tasks": {}}}, "no task is chosen"),
        ({"probe": {"tasks": {"pocket": {}}}, "parallel": "fsdp2"}, r"parallel is fsdp2 and probe is set.*to null, or"),
        ({"report_to": {"name": "wandb", "mode": "disabled"}}, "report_to.mode = 'disabled'"),
    ],
)
def test_what_cannot_work_is_refused(fields, message):
    with pytest.raises(ConfigError, match=message):
        config(**fields)


def test_adapters_are_the_default_and_can_be_switched_off():
    assert config().lora is not None and config(lora=None).lora is None
    assert config(lora={"r": 4}).lora.alpha == 32


def test_help_is_there_at_once(repository):
    code = "import sys; from train.sft import main\ntry: main(['--help'])\nexcept SystemExit: pass\n"
    code += "assert not {'torch', 'transformers', 'trl', 'peft', 'datasets', 'wandb'} & sys.modules.keys()"
    subprocess.run([sys.executable, "-c", code], cwd=repository, check=True, capture_output=True)
