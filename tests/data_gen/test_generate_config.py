"""Invalid settings are rejected before anything is generated, with the valid ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from data_gen.generate_config import GenerateConfig, LeakCheck
from data_gen.style import style_names
from eval import plugin
from eval.command_line import load
from eval.config import ConfigError, dump, validate

SMALL: dict[str, Any] = {"name": "x", "conversations": 4, "seeds": {"written": {}}}


def config(**fields: Any) -> GenerateConfig:
    return validate(GenerateConfig, {**SMALL, **fields})


def test_defaults_are_all_styles_and_every_evaluation() -> None:
    made = config()
    assert made.folder == Path("data/x")
    assert made.styles == dict.fromkeys(style_names(), 1.0)
    assert made.leak_check.tasks == plugin.names("eval.tasks")
    assert (made.leak_check.missing, made.leak_check.seeds) == ("error", "error")
    assert made.teacher.name == "scripted" and made.judge.name == "local"


def test_styles_are_names_or_weights() -> None:
    assert config(styles=["extend", "apply"]).styles == {"extend": 1.0, "apply": 1.0}
    assert config(styles={"extend": 2, "acknowledge": 0.5}).styles == {"extend": 2.0, "acknowledge": 0.5}


def test_a_dumped_configuration_can_be_loaded_again() -> None:
    made = config(styles=["extend"], exchanges=[2, 3], filters={"specific_share": 0.5}, seeds={"gsm8k": {"limit": 3}})
    import yaml

    assert validate(GenerateConfig, yaml.safe_load(dump(made))) == made


def test_null_omits_a_source_and_options_can_be_set_on_the_command_line() -> None:
    path = "configs/data_gen/collab_smollm2.yaml"
    made = load(
        GenerateConfig, ["--config", path, "--seeds.written", "null", "--seeds.gsm8k.limit", "7"], prog="", about=""
    )
    assert made.seeds == {"gsm8k": {"limit": 7}}


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"seeds": {}}, "no seeds are given; data_gen/seeds has arithmetic, gsm8k, jsonl"),
        ({"seeds": {"gsm9k": {}}}, r"no data_gen/seeds/gsm9k\.py"),
        ({"seeds": {"gsm8k": {"limits": 3}}}, "unknown key 'limits' in seeds.gsm8k"),
        ({"seeds": {"gsm8k": {"split": "test"}}}, "unknown key 'split' in seeds.gsm8k"),
        ({"seeds": {"gsm8k": {"prompt": "polite"}}}, "seeds.gsm8k.prompt = 'polite'"),
        ({"seeds": {"jsonl": {}}}, "seeds.jsonl.file is required"),
        ({"seeds": {"rows": {"limit": 3}}}, "seeds.rows.run is required"),
        ({"styles": ["extent"]}, "no style 'extent'"),
        ({"styles": {"extend": 0}}, "extend has weight 0"),
        ({"styles": ["acknowledge"]}, "no style of acknowledge follows up"),
        ({"styles": ["answer_question"]}, "follows up on any response"),
        ({"exchanges": [1, 3]}, "is not a valid range; the minimum is 2"),
        ({"exchanges": [3, 2]}, "is not a valid range; the minimum is 2"),
        ({"plain_endings": 1.5}, "plain_endings"),
        ({"conversations": 0}, "conversations"),
        ({"name": "../x"}, "name"),
        ({"teacher": "scribe"}, r"no data_gen/teachers/scribe\.py"),
        ({"teacher": {"name": "scripted", "model": "x"}}, "unknown key 'model' in teacher"),
        ({"judge": {"name": "local", "budget_usd": 1}}, "unknown key 'budget_usd' in judge"),
        ({"leak_check": {"tasks": ["mmlu"]}}, r"no eval/tasks/mmlu\.py"),
        ({"filters": {"genuine": False, "specific_share": 0.5}}, "needs filters.genuine"),
        ({"filters": {"near_duplicate": 0.5}}, "Did you mean near_duplicates"),
        ({"filters": {"user_words": [9, 3]}}, "user_words"),
    ],
)
def test_an_invalid_setting_is_rejected(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        config(**fields)


def test_the_list_of_evaluations_is_that_of_the_folder() -> None:
    assert LeakCheck().tasks == plugin.names("eval.tasks")
