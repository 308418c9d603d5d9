"""Unsharded weights in one process; sharded weights are tested in tests/integration/test_parallel.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval.config import ConfigError
from train.sharded_weights import gathered_for_generation, gathered_weights


@pytest.fixture
def trainer(tiny_model, tmp_path: Path):
    from transformers import Trainer, TrainingArguments

    arguments = TrainingArguments(str(tmp_path), report_to=[], use_cpu=True)
    return Trainer(tiny_model("llama"), arguments)


def test_one_process_has_all_weights(trainer) -> None:
    weights, model = gathered_weights(trainer), trainer.model
    assert weights.keys() == model.state_dict().keys()
    assert all(weights[name].equal(tensor) for name, tensor in model.state_dict().items())


def test_one_process_generates_as_it_is(trainer) -> None:
    before = {name: tensor.clone() for name, tensor in trainer.model.state_dict().items()}
    with gathered_for_generation(trainer):
        assert trainer.model.model.embed_tokens.weight.numel()
    assert all(before[name].equal(tensor) for name, tensor in trainer.model.state_dict().items())


def test_weights_sharded_with_fsdp2_are_not_probed(trainer) -> None:
    trainer.is_fsdp_enabled = True
    with pytest.raises(ConfigError, match="set probe to null"), gathered_for_generation(trainer):
        pass
