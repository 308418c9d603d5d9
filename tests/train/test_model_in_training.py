"""Generation between two steps gives what the engine on files gives, and does not affect training."""

from __future__ import annotations

import random

import pytest

from eval.engine import Prompt, Sampling
from eval.engines.transformers import Engine
from train.adapters import add_adapters
from train.model_export import open_model
from train.model_in_training import ModelInTraining, generating
from train.training_config import Lora

SAMPLING = Sampling(temperature=1.0, max_tokens=12)
PROMPTS = [Prompt(str(n), [3 + n, 7, 11, 5 * n + 1], seed=n) for n in range(5)]


@pytest.fixture(params=["llama", "qwen3_5"])
def folder(request, tiny_folders):
    return tiny_folders[request.param]


def test_it_generates_what_the_engine_on_files_does(folder):
    model = open_model(folder)
    with generating(model):
        here = dict(ModelInTraining(folder, model).generate(PROMPTS, SAMPLING, frozenset({2})))
    there = dict(Engine(folder).generate(PROMPTS, SAMPLING, frozenset({2})))
    assert here == there and len(here) == 5


def test_nothing_of_training_is_changed(folder):
    import numpy
    import torch

    model = add_adapters(open_model(folder), Lora(r=2, alpha=4, dropout=0.5)).train()
    base = model.get_base_model()
    attention = base.config._attn_implementation
    states = random.getstate(), torch.get_rng_state(), numpy.random.get_state()[1].tolist()
    with generating(base):
        assert not base.training
        list(ModelInTraining(folder, base).generate(PROMPTS, SAMPLING, frozenset()))
        torch.rand(3), random.random(), numpy.random.rand()
    assert base.training and base.config._attn_implementation == attention
    assert random.getstate() == states[0] and torch.get_rng_state().equal(states[1])
    assert numpy.random.get_state()[1].tolist() == states[2]
    model(input_ids=torch.tensor([[1, 2, 3]]), labels=torch.tensor([[1, 2, 3]])).loss.backward()
    assert any(weights.grad is not None for weights in model.parameters())


def test_it_is_set_back_after_an_error(folder):
    model = open_model(folder).train()
    with pytest.raises(RuntimeError), generating(model):
        raise RuntimeError
    assert model.training
