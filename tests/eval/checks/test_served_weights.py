"""An engine that serves the given weights, one that serves others, and one that keeps the old ones.

Here transformers stands on both sides; that vLLM agrees is for a machine that has it.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from eval.checks import served_weights
from eval.checks.finding import examine
from eval.checks.served_weights import compare_served, served_check
from eval.engine import Completion

IDS = list(range(5, 25))


class Engine:
    """Greedy decoding with log-probs, by plain forward passes on the weights of a folder."""

    dtype = "float32"

    def __init__(self, folder: Path) -> None:
        from transformers import AutoModelForCausalLM

        self.model: Any = AutoModelForCausalLM.from_pretrained(folder).eval()

    def generate_n(self, prompts, sampling, stop_ids, n, log_probs=False):
        import torch

        for prompt in prompts:
            ids, values = list(prompt.ids), []
            for _ in range(sampling.max_tokens):
                with torch.inference_mode():
                    row = torch.log_softmax(self.model(torch.tensor([ids])).logits[0, -1], dim=-1)
                ids.append(int(row.argmax()))
                values.append(float(row.max()))
            yield prompt.key, [Completion(tuple(ids[len(prompt.ids) :]), "length", tuple(values))] * n


def test_an_engine_on_the_given_weights(tiny_model) -> None:
    ((_, finding),) = examine([served_check(Engine, lambda: tiny_model, lambda: IDS)])
    assert finding.status == "pass" and "also after a weight was perturbed" in finding.told


def test_an_engine_that_keeps_the_old_weights(tiny_model) -> None:
    finding = compare_served(lambda folder: Engine(tiny_model), tiny_model, IDS)
    assert finding.status == "fail" and "other weights are served" in finding.told


def test_an_engine_on_other_weights(tiny_model, tmp_path) -> None:
    from safetensors.torch import load_file, save_file

    other = Path(shutil.copytree(tiny_model, tmp_path / "other"))
    tensors = load_file(other / "model.safetensors")
    tensors["model.norm.weight"] *= 2
    save_file(tensors, other / "model.safetensors", metadata={"format": "pt"})
    finding = compare_served(lambda folder: Engine(other), tiny_model, IDS)
    assert finding.status == "fail" and "differ from transformers'" in finding.told


def test_what_would_take_long_is_not_checked_and_said(tiny_model, monkeypatch) -> None:
    for limit in ("HEAVY", "LARGEST"):
        monkeypatch.setattr(served_weights, limit, 1)
    check = served_check(lambda folder: pytest.fail("the engine was started"), lambda: tiny_model, lambda: IDS)
    ((_, finding),) = examine([check])
    assert finding.status == "not checked" and "GB of weights are too many" in finding.told


@pytest.mark.parametrize("sharded", [False, True])
def test_only_the_perturbed_weights_are_copied(tiny_model, tmp_path, sharded) -> None:
    from transformers import AutoModelForCausalLM

    folder = tiny_model
    if sharded:
        folder = tmp_path / "sharded"
        AutoModelForCausalLM.from_pretrained(tiny_model).save_pretrained(folder, max_shard_size="20KB")
    (tmp_path / "copy").mkdir()
    copy = served_weights._perturbed_copy(folder, tmp_path / "copy")
    weights = sorted(copy.glob("*.safetensors"))
    assert len([path for path in weights if not path.is_symlink()]) == 1 and (len(weights) > 1) is sharded
    before, after = (dict(AutoModelForCausalLM.from_pretrained(one).named_parameters()) for one in (folder, copy))
    assert [name for name in before if not before[name].equal(after[name])] == ["model.norm.weight"]


@pytest.mark.parametrize("name", ["vllm"])
def test_the_engine_that_a_probe_takes_has_this_interface(name) -> None:
    import inspect

    from eval import plugin

    generate_n = plugin.load("eval.engines", name).Engine.generate_n
    parameters = list(inspect.signature(generate_n).parameters)
    assert parameters == ["self", "prompts", "sampling", "stop_ids", "n", "log_probs"]
