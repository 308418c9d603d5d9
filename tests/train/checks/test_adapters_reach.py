"""Adapters that reach all layers, adapters that reach some, and adapters without effect."""

from __future__ import annotations

import pytest

from eval.config import ConfigError
from train.checks.adapters_reach import layers_reached, reach_of
from train.training_config import Lora

IDS = list(range(3, 30))


@pytest.mark.parametrize(("name", "told"), [("llama", "2 self_attn.q_proj"), ("qwen3_5", "3 linear_attn.in_proj_a")])
def test_the_default_reaches_every_layer(tiny_model, name, told) -> None:
    reach = reach_of(tiny_model(name), Lora(r=2), IDS, IDS)
    assert reach.finding.status == "pass" and told in reach.finding.told
    assert reach.seconds_per_token > 0


def test_targets_of_ordinary_attention_leave_linear_layers_out(tiny_model) -> None:
    reach = reach_of(tiny_model("qwen3_5"), Lora(r=2, targets=r".*\.(q|k|v|o|up|down|gate)_proj"), IDS, IDS)
    assert reach.finding.status == "warn" and reach.finding.told.startswith("3 of 4 layers are without adapters on")


def test_one_layer_alone_is_a_warning(tiny_model) -> None:
    reach = reach_of(tiny_model(), Lora(r=2, targets=r".*layers\.1\.mlp\.up_proj"), IDS, IDS)
    assert reach.finding.status == "warn" and "1 of 2 layers are without adapters" in reach.finding.told


def test_an_adapter_that_the_model_does_not_use_is_a_failure(tiny_model) -> None:
    """A module that is there and is not called, as after a change of names between two classes."""
    model = tiny_model()
    layer = model.model.layers[0]
    layer.forward = lambda hidden, *rest, **named: hidden  # the layer is skipped, its modules stay
    reach = reach_of(model, Lora(r=2, targets=r".*layers\.0\.mlp\.(up|down)_proj"), IDS, IDS)
    assert reach.finding.status == "fail" and "2 of 2 adapters get no gradient" in reach.finding.told


def test_an_adapter_that_changes_no_logit_is_a_failure(tiny_model, monkeypatch) -> None:
    monkeypatch.setattr("train.checks.adapters_reach.NOISE", 0.0)
    reach = reach_of(tiny_model(), Lora(r=2), IDS, IDS)
    assert reach.finding.status == "fail" and "changes no logit" in reach.finding.told


def test_targets_that_match_nothing_are_refused(tiny_model) -> None:
    with pytest.raises(ConfigError, match="matches no module"):
        reach_of(tiny_model(), Lora(targets="no_proj"), IDS, IDS)


def test_without_adapters_all_is_trained(tiny_model) -> None:
    reach = reach_of(tiny_model(), None, IDS, IDS)
    assert reach.finding.told == "all weights are trained" and reach.seconds_per_token > 0


def test_without_weights_only_names_are_checked(tiny_model) -> None:
    model = tiny_model("qwen3_5").to("meta")
    finding = layers_reached(model, Lora(r=2), "5 GB of weights are not run on this CPU")
    assert finding.status == "warn" and "logits not compared: 5 GB" in finding.told
    finding = layers_reached(tiny_model("qwen3_5").to("meta"), Lora(r=2, targets=r".*self_attn\.q_proj"), "5 GB")
    assert "3 of 4 layers are without adapters on their attention" in finding.told
