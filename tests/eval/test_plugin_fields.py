"""Fields that name a plugin convert its options and refuse those that its constructor does not take."""

from __future__ import annotations

import pytest

from eval.config import Config, ConfigError, validate
from eval.plugin_fields import EnginePlugin, FormatPlugin, JudgePlugin, TrackerPlugin


class Chosen(Config):
    engine: EnginePlugin | None = None
    format: FormatPlugin | None = None
    judge: JudgePlugin | None = None
    report_to: TrackerPlugin | None = None


def test_options_get_the_types_of_the_constructor():
    chosen = validate(Chosen, {"judge": {"name": "local", "abstain_below": "0.7"}})
    assert chosen.judge is not None and chosen.judge.options == {"abstain_below": 0.7}


@pytest.mark.parametrize("field", Chosen.model_fields)
def test_a_plugin_that_is_not_there_is_refused_with_those_that_are(field):
    with pytest.raises(ConfigError, match=rf"{field}.* has .*\w+, \w+"):
        validate(Chosen, {field: "absent"})


@pytest.mark.parametrize(
    ("field", "name", "option"),
    [
        ("engine", "transformers", "folder"),
        ("format", "smollm2", "tokenizer"),
        ("judge", "local", "temperature"),
        ("report_to", "wandb", "run"),
    ],
)
def test_options_of_the_caller_and_unknown_ones_are_refused(field, name, option):
    with pytest.raises(ConfigError, match=rf"unknown key '{option}' in {field}"):
        validate(Chosen, {field: {"name": name, option: 1}})
