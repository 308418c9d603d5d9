"""What a run works with: steps as the trainer counts them, and a protocol of what determines the weights."""

from __future__ import annotations

import json

import pytest

from eval.config import ConfigError, validate
from train.sft_config import SftConfig
from train.sft_parts import open_parts


@pytest.fixture
def configure(tiny_folders, data_files, tmp_path):
    def make(**fields) -> SftConfig:
        values = {"model": str(tiny_folders["llama"]), "format": "smollm2", "data": data_files["data"]}
        return validate(SftConfig, {**values, "run_dir": tmp_path / "run", **fields})

    return make


@pytest.mark.parametrize(
    ("trl", "steps", "batch"),
    [
        ({"per_device_train_batch_size": 5, "num_train_epochs": 1}, 3, 5),
        ({"per_device_train_batch_size": 5, "num_train_epochs": 2.5}, 8, 5),
        ({"per_device_train_batch_size": 2, "gradient_accumulation_steps": 4, "num_train_epochs": 3}, 6, 8),
        ({"per_device_train_batch_size": 64, "num_train_epochs": 1}, 1, 64),
        ({"per_device_train_batch_size": 4, "max_steps": 7}, 7, 4),
    ],
)
def test_steps_are_those_of_the_trainer(configure, trl, steps, batch):
    from train.sft_trainer import make_trainer

    parts = open_parts(configure(trl=trl, lora={"r": 2}))
    assert (parts.steps, parts.batch) == (steps, batch)
    trainer = make_trainer(parts.open_model(), parts.tokenizer, parts.arguments, parts.mixture.all)
    loader = trainer.get_train_dataloader()
    assert trainer.set_initial_training_values(parts.arguments, loader)[-1] == steps


def test_the_protocol_has_what_decides_the_weights(configure, data_files, tmp_path):
    def protocol(**fields):
        return json.loads(json.dumps(open_parts(configure(**fields)).protocol))

    base = protocol()
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(data_files["data"].read_bytes())
    for same in ({"name": "x"}, {"data": copy}, {"run_dir": tmp_path / "other"}, {"report_to": "wandb"}):
        assert protocol(**same) == base
    replay = {"path": data_files["replay"], "share": 0.3}
    probe = {"tasks": {"pocket": {"limit": 2}}}
    for other in (
        {"seed": 1},
        {"lora": None},
        {"train_on": "both"},
        {"trl": {"learning_rate": 1e-3}},
        {"replay": replay},
        {"replay": {**replay, "weight": 0.1}},
        {"data": data_files["replay"], "train_on": "assistant"},
        {"max_length": 400},
        {"probe": probe},
    ):
        assert protocol(**other) != base, other


def test_a_probe_on_training_rows_is_refused(configure, tmp_path, write_dialogues):
    from eval.dialogue import Dialogue, Message
    from eval.tasks import pocket

    asked = pocket.load()[0].messages[0]
    turns = (asked, Message("assistant", "It is 4."), Message("user", "Why 4?"))
    data = write_dialogues(tmp_path / "leak.jsonl", [Dialogue("collab", turns)])
    with pytest.raises(ConfigError, match=r"not held out: 1 of pocket_math .*leak\.jsonl line 1"):
        open_parts(configure(data=data, probe={"tasks": {"pocket": {}}}))
