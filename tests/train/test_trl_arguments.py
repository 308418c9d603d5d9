"""The mapping `trl` reaches TRL; misspelled, mistyped and harmful settings are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval.command_line import load
from eval.config import ConfigError, validate
from train.sft_config import SftConfig
from train.trl_arguments import OURS, REFUSED, trl_arguments

LEAST = {"model": "m", "format": "smollm2", "data": "d.jsonl", "run_dir": "r", "seed": 3}


def arguments(tmp_path, **trl):
    return trl_arguments(validate(SftConfig, {**LEAST, "trl": trl}), tmp_path)


def test_settings_go_through_in_their_types(tmp_path):
    made = arguments(tmp_path, learning_rate="3e-4", num_train_epochs=2, lr_scheduler_type="cosine", warmup_steps=7)
    assert (made.learning_rate, made.num_train_epochs, made.warmup_steps) == (3e-4, 2.0, 7)
    assert made.lr_scheduler_type == "cosine"


def test_what_a_run_promises_is_set(tmp_path):
    made = arguments(tmp_path)
    assert made.output_dir == str(tmp_path) and made.seed == 3 and made.report_to == []
    assert made.max_length is None and made.packing is False and made.remove_unused_columns is False
    assert made.dataset_kwargs == {"skip_prepare_dataset": True}
    assert made.logging_steps == 1 and made.logging_nan_inf_filter is False
    assert made.loss_type == "nll" and made.label_smoothing_factor == 0 and made.ignore_data_skip is False


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"learning_rat": 1e-4}, r"unknown key 'learning_rat' in trl.*Did you mean learning_rate\?"),
        ({"learning_rate": "fast"}, r"trl\.learning_rate = 'fast'"),
        ({"packing": True}, "recurrent state of linear attention leaks"),
        ({"packing_strategy": "wrapped"}, "examples are not packed"),
        ({"padding_free": True}, "recurrent state"),
        ({"assistant_only_loss": True}, "choose whose turns with train_on"),
        ({"completion_only_loss": True}, "choose whose turns with train_on"),
        ({"auto_find_batch_size": True}, "changes what a step is"),
        ({"label_smoothing_factor": 0.1}, "disables the fused head"),
        ({"use_liger_kernel": True}, "replaces the forward pass"),
        ({"output_dir": "x"}, "it comes from run_dir"),
        ({"max_length": 10}, "it comes from max_length"),
        ({"lr_scheduler_type": "cosin"}, "trl: .*cosin"),
        ({"per_device_train_batch_size": 0}, r"trl\.per_device_train_batch_size is 0; it must be a finite .* above 0"),
        ({"gradient_accumulation_steps": 0}, r"trl\.gradient_accumulation_steps is 0.*above 0"),
        ({"num_train_epochs": "0"}, r"trl\.num_train_epochs is 0.*above 0"),
        ({"num_train_epochs": -0.5}, r"trl\.num_train_epochs is -0\.5.*above 0"),
        ({"max_steps": "0"}, r"trl\.max_steps is 0.*above 0"),
        ({"save_steps": 0}, r"trl\.save_steps is 0.*above 0"),
        ({"learning_rate": "-1"}, r"trl\.learning_rate is -1; it must be a finite number above 0"),
        ({"learning_rate": 0}, r"trl\.learning_rate is 0.*above 0"),
        ({"learning_rate": float("nan")}, r"trl\.learning_rate is nan.*finite"),
        ({"learning_rate": float("inf")}, r"trl\.learning_rate is inf.*finite"),
    ],
)
def test_what_would_train_something_else_is_refused(tmp_path, setting, message):
    with pytest.raises(ConfigError, match=message):
        arguments(tmp_path, **setting)


def test_half_precision_needs_a_gpu(tmp_path):
    import torch

    if torch.cuda.is_available():
        assert arguments(tmp_path).bf16
        return
    assert not arguments(tmp_path).bf16
    with pytest.raises(ConfigError, match=r"trl\.bf16 is true and there is no GPU here"):
        arguments(tmp_path, bf16=True)


def test_one_process_uses_one_gpu(tmp_path, monkeypatch):
    """transformers would replicate the model on all GPUs that it sees, and take a batch for each."""
    import torch
    from transformers import TrainingArguments

    def four_gpus(arguments):
        arguments._n_gpu = 4
        return torch.device("cpu")

    monkeypatch.setattr(TrainingArguments, "_setup_devices", property(four_gpus))
    monkeypatch.setattr(TrainingArguments, "distributed_state", None, raising=False)
    made = arguments(tmp_path, per_device_train_batch_size=2)
    assert (made.n_gpu, made.train_batch_size) == (1, 2)


def test_every_setting_that_is_ours_or_refused_is_one_of_trls():
    import inspect

    from trl import SFTConfig

    assert {*OURS, *REFUSED} <= inspect.signature(SFTConfig.__init__).parameters.keys()
    assert not OURS.keys() & REFUSED.keys()


def test_trl_takes_every_committed_configuration(tmp_path, repository, monkeypatch):
    import torch

    paths = sorted((repository / "configs" / "train").glob("sft_*.yaml"))
    assert [path.name for path in paths][-1:] == ["sft_smollm2.yaml"]
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    for path in paths:
        config = load(SftConfig, ["--config", str(path)], prog="train.sft", about="")
        settings = {name: value for name, value in config.trl.items() if name != "bf16"}
        made = trl_arguments(config.model_copy(update={"trl": settings}), Path(tmp_path))
        assert made.learning_rate == config.trl["learning_rate"]
