"""The exported model folder: merged equals adapted, saved equals merged, and damage is refused."""

from __future__ import annotations

import pytest

from eval.config import ConfigError
from eval.weights import check_model_folder
from train.adapters import add_adapters
from train.model_export import logits, merge_adapters, open_model, save_model, with_weights
from train.training_config import Lora

SAMPLE = [[1, 5, 9, 2, 300, 17], [4, 4, 8]]


@pytest.fixture(params=["llama", "qwen3_5"])
def base(request, tiny_folders):
    return tiny_folders[request.param]


@pytest.fixture
def adapters(base, tmp_path):
    """Adapters of `base` that change what it computes."""
    import torch

    adapted = add_adapters(open_model(base), Lora(r=4, alpha=8))
    torch.manual_seed(1)
    with torch.no_grad():
        for name, weights in adapted.named_parameters():
            if "lora_B" in name:
                weights.normal_(std=0.3)
    adapted.save_pretrained(tmp_path / "adapters")
    return tmp_path / "adapters"


def test_merged_and_saved_weights_compute_what_the_adapted_do(base, adapters, tmp_path):
    from peft import PeftModel

    adapted = PeftModel.from_pretrained(open_model(base), str(adapters)).eval()
    expected = [logits(adapted, ids) for ids in SAMPLE]
    save_model(merge_adapters(base, adapters, SAMPLE), base, tmp_path / "model", SAMPLE)
    saved = open_model(tmp_path / "model")
    for ids, wanted in zip(SAMPLE, expected, strict=True):
        assert logits(saved, ids).allclose(wanted, atol=1e-4)
        assert not logits(open_model(base), ids).allclose(wanted, atol=1e-2)
    assert saved.state_dict().keys() == open_model(base).state_dict().keys()
    assert type(saved) is type(open_model(base))


def test_the_folder_is_complete_and_has_the_logits_of_its_base(base, tmp_path):
    from transformers import AutoTokenizer

    save_model(open_model(base), base, tmp_path / "model", SAMPLE)
    check_model_folder(tmp_path / "model")
    assert not list(tmp_path.glob(".*"))
    for name in ("tokenizer.json", "chat_template.jinja"):
        assert (tmp_path / "model" / name).read_bytes() == (base / name).read_bytes()
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "model")
    assert tokenizer.get_chat_template() == AutoTokenizer.from_pretrained(base).get_chat_template()


def test_a_merge_that_computes_something_else_is_refused(base, adapters, monkeypatch):
    from peft.tuners.lora import LoraModel

    merge = LoraModel.merge_and_unload

    def spoiled(self):
        merged = merge(self)
        merged.get_input_embeddings().weight.data.mul_(1.1)
        return merged

    monkeypatch.setattr(LoraModel, "merge_and_unload", spoiled)
    with pytest.raises(ConfigError, match=r"merged and adapted weights differ by .* the adapters are in"):
        merge_adapters(base, adapters, SAMPLE)


def test_a_folder_that_does_not_hold_the_model_is_refused(base, tmp_path, monkeypatch):
    model = open_model(base)
    save = type(model).save_pretrained

    def other(self, folder):
        save(open_model(base), folder)

    model.get_input_embeddings().weight.data.mul_(1.1)
    monkeypatch.setattr(type(model), "save_pretrained", other)
    with pytest.raises(ConfigError, match="would have other values than the model"):
        save_model(model, base, tmp_path / "model", SAMPLE)
    assert not (tmp_path / "model").exists()


def test_a_checkpoint_in_bfloat16_is_saved_in_bfloat16(base, tmp_path):
    import torch

    low = open_model(base, torch.bfloat16)
    low.save_pretrained(tmp_path / "low")
    for path in base.glob("*token*"):
        (tmp_path / "low" / path.name).write_bytes(path.read_bytes())
    (tmp_path / "low" / "chat_template.jinja").write_bytes((base / "chat_template.jinja").read_bytes())
    save_model(open_model(tmp_path / "low"), tmp_path / "low", tmp_path / "model", SAMPLE)
    assert open_model(tmp_path / "model", "auto").dtype == torch.bfloat16


def test_weights_are_taken_over_and_settings_of_training_are_not(base):
    trained = open_model(base)
    trained.get_input_embeddings().weight.data.mul_(1.1)
    trained.config.use_cache = False
    taken = with_weights(trained.state_dict(), base)
    assert logits(taken, SAMPLE[0]).equal(logits(trained, SAMPLE[0])) and taken.config.use_cache


def test_missing_weights_are_named(base, tmp_path):
    from safetensors.torch import load_file, save_file

    for path in base.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    weights = load_file(tmp_path / "model.safetensors")
    gone = next(name for name in weights if "layers.1" in name)
    save_file({k: v for k, v in weights.items() if k != gone}, tmp_path / "model.safetensors", {"format": "pt"})
    with pytest.raises(ConfigError, match="lack 1 tensors"):
        open_model(tmp_path)
