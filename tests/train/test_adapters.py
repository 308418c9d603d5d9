"""Which modules get adapters: every projection of the layers, including linear attention; no vision tower, no head."""

from __future__ import annotations

import pytest

from eval.config import ConfigError
from train.adapters import adapted_modules, add_adapters, trained_weights
from train.training_config import Lora

MLP = {"mlp.gate_proj": 4, "mlp.up_proj": 4, "mlp.down_proj": 4}
LINEAR = {f"linear_attn.{name}": 3 for name in ("in_proj_qkv", "in_proj_z", "in_proj_a", "in_proj_b", "out_proj")}
FULL = {f"self_attn.{name}": 1 for name in ("q_proj", "k_proj", "v_proj", "o_proj")}


def test_every_projection_of_qwen3_5_is_adapted(tiny_model):
    model = add_adapters(tiny_model("qwen3_5"), Lora(r=2, alpha=4))
    assert adapted_modules(model) == {**LINEAR, **FULL, **MLP}
    trained = {name for name, weights in model.named_parameters() if weights.requires_grad}
    assert trained and all("lora_" in name for name in trained)
    said = trained_weights(model)
    assert "3 linear_attn.in_proj_qkv" in said and "1 self_attn.q_proj" in said and "4 mlp.down_proj" in said


def test_adapted_modules_are_listed_per_layer(tiny_model):
    _, linear, full = trained_weights(add_adapters(tiny_model("qwen3_5"), Lora(r=2, alpha=4))).splitlines()
    assert linear == f"  layers 0-2: {', '.join(sorted([*LINEAR, *MLP]))}"
    assert full == f"  layer 3: {', '.join(sorted([*MLP, *FULL]))}"
    some = add_adapters(tiny_model("qwen3_5"), Lora(r=2, targets=r".*layers\.(0|2|3)\.mlp\.up_proj"))
    assert trained_weights(some).splitlines()[1:] == ["  layers 0, 2-3: mlp.up_proj"]


def test_a_vision_tower_is_left_alone():
    import torch
    from transformers.models.qwen3_5.configuration_qwen3_5 import Qwen3_5Config
    from transformers.models.qwen3_5.modeling_qwen3_5 import Qwen3_5ForConditionalGeneration

    sizes = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 4, "vocab_size": 64}
    heads = {"num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8}
    linear = {"linear_num_key_heads": 2, "linear_num_value_heads": 4}
    vision = {"depth": 2, "hidden_size": 32, "intermediate_size": 48, "num_heads": 4, "out_hidden_size": 32}
    with torch.device("meta"):
        model = Qwen3_5ForConditionalGeneration(
            Qwen3_5Config(text_config={**sizes, **heads, **linear}, vision_config=vision)
        )
    assert any("visual" in name and "proj" in name for name, _ in model.named_modules())
    adapted = add_adapters(model, Lora(r=2, alpha=4))
    assert adapted_modules(adapted) == {**LINEAR, **FULL, **MLP}
    assert not [name for name, _ in adapted.named_parameters() if "visual" in name and "lora" in name]
    with pytest.raises(ConfigError, match=r"targets matches model\.visual\..*must not be adapted"):
        add_adapters(model, Lora(targets=r".*visual.*proj.*"))


@pytest.mark.parametrize(
    ("targets", "message"),
    [
        ("(", "is not a valid regex"),
        (r".*\.no_such", "matches no module of LlamaForCausalLM"),
        (r"lm_head|.*q_proj", "matches lm_head, which must not be adapted"),
    ],
)
def test_targets_that_cannot_work_are_refused(tiny_model, targets, message):
    with pytest.raises(ConfigError, match=message):
        add_adapters(tiny_model(), Lora(targets=targets))


def test_all_weights_are_trained_without_adapters(tiny_model):
    model = tiny_model()
    assert trained_weights(model) == f"{model.num_parameters():,} of {model.num_parameters():,} weights are trained"
