"""What is refused before processes connect; tests/integration/ connects real ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eval.config import ConfigError
from train.parallel import connect_processes, refuse_other_process_count


@pytest.fixture(autouse=True)
def no_launcher(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("WORLD_SIZE", "ACCELERATE_USE_DEEPSPEED", "ACCELERATE_USE_FSDP", "ACCELERATE_DEEPSPEED_CONFIG_FILE"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)


@pytest.mark.parametrize("parallel", ["ddp", "zero2", "zero3", "fsdp2"])
def test_one_process_shards_nothing(parallel) -> None:
    assert connect_processes(parallel, 60) == {}


def test_a_launcher_that_is_configured_for_another_kind_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACCELERATE_USE_DEEPSPEED", "true")
    monkeypatch.setenv("ACCELERATE_DEEPSPEED_CONFIG_FILE", "configs/deepspeed/zero3.json")
    with pytest.raises(ConfigError, match="is configured for zero3, and parallel is ddp; set --parallel zero3"):
        connect_processes("ddp", 60)
    assert connect_processes("zero3", 60) == {}
    monkeypatch.setenv("ACCELERATE_USE_FSDP", "true")
    monkeypatch.setenv("FSDP_VERSION", "1")
    with pytest.raises(ConfigError, match="is configured for fsdp1, and parallel is fsdp2; launch with"):
        connect_processes("fsdp2", 60)


def test_fsdp2_wants_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv("ACCELERATE_USE_CPU", "true")
    with pytest.raises(ConfigError, match="fsdp2 needs GPUs"):
        connect_processes("fsdp2", 60)


def test_deepspeed_on_cpus_wants_a_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"WORLD_SIZE": "2", "ACCELERATE_USE_CPU": "true", "CXX": "no-such-compiler"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("ACCELERATE_USE_DEEPSPEED", "")
    monkeypatch.setenv("DS_ACCELERATOR", "cpu")
    with pytest.raises(ConfigError, match="there is no compiler no-such-compiler"):
        connect_processes("zero2", 60)


def test_a_run_is_not_resumed_with_another_number_of_processes(tmp_path: Path) -> None:
    refuse_other_process_count(tmp_path, 1)
    (tmp_path / "manifest.json").write_text(json.dumps({"protocol": {"processes": 2}}))
    with pytest.raises(ConfigError, match=r"a run of 2 processes, and now there are 1; resume with 2 "):
        refuse_other_process_count(tmp_path, 1)
    refuse_other_process_count(tmp_path, 2)


def test_transformers_understands_the_settings_of_fsdp2(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from transformers import TrainingArguments

    for name in ("ACCELERATE_USE_FSDP", "FSDP_STATE_DICT_TYPE"):
        monkeypatch.setenv(name, "")
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setattr("train.parallel._on_cpu", lambda: False)
    monkeypatch.setattr("train.parallel._init_process_group", lambda timeout_s: None)
    settings = connect_processes("fsdp2", 60)
    made = TrainingArguments(str(tmp_path), report_to=[], fsdp=settings["fsdp"], fsdp_config=settings["fsdp_config"])
    plugin = made.fsdp_plugin_args
    assert (plugin["fsdp_version"], plugin["reshard_after_forward"]) == (2, True)
    assert (plugin["auto_wrap_policy"], plugin["state_dict_type"]) == ("TRANSFORMER_BASED_WRAP", "FULL_STATE_DICT")
