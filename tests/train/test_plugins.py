"""Every file of train/rewards and train/prompts follows its contract."""

from __future__ import annotations

import inspect
import re

import pytest

from eval import plugin
from eval.dialogue import ROLES

REWARDS, PROMPTS = plugin.names("train.rewards"), plugin.names("train.prompts")


def test_there_are_plugins() -> None:
    assert set(REWARDS) >= {"gsm8k", "followup"} and set(PROMPTS) >= {"arithmetic", "dialogues", "gsm8k"}


@pytest.mark.parametrize("name", REWARDS)
def test_a_reward_says_whose_turn_it_is_for_and_takes_a_dialogue(name: str) -> None:
    module = plugin.load("train.rewards", name)
    first, *options = inspect.signature(module.reward).parameters.values()
    assert module.TURN in ROLES and first.name == "dialogue"
    assert all(option.kind is option.KEYWORD_ONLY and option.default is not option.empty for option in options)
    assert re.search(r"https?://|arXiv|Source", module.__doc__)


@pytest.mark.parametrize("name", PROMPTS)
def test_prompts_are_loaded_as_the_rows_of_a_task_are(name: str) -> None:
    parameters = list(inspect.signature(plugin.load("train.prompts", name).load).parameters)
    assert parameters[:3] == ["limit", "seed", "data_dir"]
