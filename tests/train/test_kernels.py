"""Linear attention without its kernels is refused where it would be slow, and only there."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from eval.config import ConfigError
from train import kernels
from train.kernels import missing_kernels, refuse_slow_path


def on_gpu(model):
    return SimpleNamespace(config=model.config, device=SimpleNamespace(type="cuda"))


@pytest.mark.parametrize("installed", [set(), {"fla"}, {"fla", "causal_conv1d"}])
def test_one_of_the_two_is_not_enough(tiny_model, monkeypatch, installed):
    monkeypatch.setattr(kernels, "find_spec", lambda name: name if name in installed else None)
    model = tiny_model("qwen3_5")
    assert len(missing_kernels(model)) == 2 - len(installed)
    refuse_slow_path(model, allow_slow=False)  # a CPU has no kernels to miss
    refuse_slow_path(on_gpu(model), allow_slow=True)
    if len(installed) < 2:
        with pytest.raises(ConfigError, match=r"pip install .*causal-conv1d, or --allow-slow"):
            refuse_slow_path(on_gpu(model), allow_slow=False)
    else:
        refuse_slow_path(on_gpu(model), allow_slow=False)


def test_a_model_without_linear_attention_misses_nothing(tiny_model):
    model = tiny_model("llama")
    assert missing_kernels(model) == []
    refuse_slow_path(on_gpu(model), allow_slow=False)
