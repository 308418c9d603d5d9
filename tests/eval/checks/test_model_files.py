"""A model is looked for on disk and in the Hub's cache, and nothing is fetched."""

from __future__ import annotations

import json

import pytest

from eval.checks.finding import examine
from eval.checks.model_files import local_folder, model_check
from eval.config import ConfigError


def test_a_whole_folder_is_told(tiny_model) -> None:
    ((_, finding),) = examine([model_check(lambda: local_folder(str(tiny_model), None))])
    assert finding.status == "pass" and "LlamaForCausalLM" in finding.told


@pytest.mark.parametrize("model", ["models/none", "/no/such/folder", "./x"])
def test_a_folder_that_is_not_there(model) -> None:
    with pytest.raises(ConfigError, match="no model folder"):
        local_folder(model, None)


def test_a_model_of_the_hub_that_is_not_in_the_cache(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(ConfigError, match=r"`hf download someone/some-model --revision main`, or set HF_HOME"):
        local_folder("someone/some-model", "main")


def test_an_architecture_that_transformers_does_not_know(tiny_model, tmp_path) -> None:
    for path in tiny_model.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "qwen9"}))
    ((_, finding),) = examine([model_check(lambda: local_folder(str(tmp_path), None))])
    assert finding.status == "fail" and "qwen9" in finding.told
