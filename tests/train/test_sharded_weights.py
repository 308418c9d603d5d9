"""Where one process has all weights, they are whole; divided ones are in tests/integration/test_parallel.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval.config import ConfigError
from train.sharded_weights import gathered, whole


@pytest.fixture
def trainer(tiny_model, tmp_path: Path):
    from transformers import Trainer, TrainingArguments

    arguments = TrainingArguments(str(tmp_path), report_to=[], use_cpu=True)
    return Trainer(tiny_model("llama"), arguments)


def test_one_process_has_all_weights(trainer) -> None:
    weights, model = gathered(trainer), trainer.model
    assert weights.keys() == model.state_dict().keys()
    assert all(weights[name].equal(tensor) for name, tensor in model.state_dict().items())


def test_one_process_generates_as_it_is(trainer) -> None:
    before = {name: tensor.clone() for name, tensor in trainer.model.state_dict().items()}
    with whole(trainer):
        assert trainer.model.model.embed_tokens.weight.numel()
    assert all(before[name].equal(tensor) for name, tensor in trainer.model.state_dict().items())


def test_what_fsdp2_divides_is_not_probed(trainer) -> None:
    trainer.is_fsdp_enabled = True
    with pytest.raises(ConfigError, match="set probe to null"), whole(trainer):
        pass
