"""The estimated size of a run is no less than what a trainer writes."""

from __future__ import annotations

from types import SimpleNamespace

from train.checks.room import bytes_of_run
from train.model_export import open_model
from train.training_config import Lora


def plan(save_steps: int = 2, limit: int | None = 2) -> SimpleNamespace:
    return SimpleNamespace(save_steps=save_steps, save_total_limit=limit)


def test_full_checkpoints_have_weights_and_two_values_of_adam(tiny_folders) -> None:
    weights = open_model(tiny_folders["llama"]).num_parameters()
    size, what = bytes_of_run(tiny_folders["llama"], None, plan(limit=None), 6)
    assert what == "3 checkpoints and a model"
    assert size == weights * 4 * (3 * 3 + 2)


def test_adapters_are_small_and_only_what_is_kept_counts(tiny_folders) -> None:
    whole, _ = bytes_of_run(tiny_folders["llama"], None, plan(), 100)
    adapters, what = bytes_of_run(tiny_folders["llama"], Lora(r=2), plan(), 100)
    assert what == "3 checkpoints and a model" and adapters < whole
    assert bytes_of_run(tiny_folders["llama"], None, plan(), 2)[1] == "1 checkpoints and a model"
