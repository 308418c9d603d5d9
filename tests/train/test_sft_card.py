"""The card of a trained model names its base, data, settings and what was measured."""

from __future__ import annotations

import pytest
import yaml

from eval.config import validate
from train.sft_card import sft_card
from train.sft_config import SftConfig
from train.sft_parts import open_parts

SUMMARY = {"base": "tiny@0123", "steps": 3, "loss": {"first": 2.5, "last": 1.25}, "probe": None}


@pytest.fixture
def parts(tiny_folders, data_files, tmp_path):
    values = {"model": str(tiny_folders["llama"]), "format": "smollm2", "run_dir": tmp_path, "name": "SFT | x"}
    return open_parts(validate(SftConfig, {**values, "data": data_files["data"]}))


def test_it_says_what_was_made_from_what(parts, data_files):
    card = sft_card(parts, SUMMARY)
    _, front, text = card.split("---\n", 2)
    assert yaml.safe_load(front)["library_name"] == "transformers" and "base_model" not in front
    assert "`tiny@0123` fine-tuned on the user's turns" in text and "low-rank adapters, merged; 3 steps" in text
    assert parts.data_files[str(data_files["data"])] in text and "learning_rate" not in text
    assert "Loss of the first steps 2.5000, of the last 1.2500." in text and "Held-out probe" not in text
    settings = yaml.safe_load(text.partition("```yaml\n")[2].partition("```")[0])
    assert validate(SftConfig, settings) == parts.config


def test_a_probe_and_why_training_stopped_are_in_it(parts):
    probe = {"steps": {"0": "genuine 1 %", "10": "genuine 9 %"}, "stopped": "step 10: accuracy fell"}
    text = sft_card(parts, {**SUMMARY, "probe": probe})
    assert "- step 10: genuine 9 %" in text and "Training was stopped: step 10: accuracy fell." in text


def test_a_base_on_the_hub_is_linked(parts):
    object.__setattr__(parts, "config", parts.config.model_copy(update={"model": "owner/name"}))
    assert "base_model: owner/name" in sft_card(parts, SUMMARY)
