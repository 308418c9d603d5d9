"""What a configuration refuses, and what it says to do."""

from __future__ import annotations

from typing import Any

import pytest

from eval.command_line import load
from eval.config import ConfigError, validate
from train.rl_config import RlConfig

GIVEN: dict[str, Any] = {
    "model": "models/x",
    "format": "smollm2",
    "prompts": {"arithmetic": {"limit": 8}},
    "max_episodes": 64,
    "rewards": {"gsm8k": {"weight": 2}, "followup": {"rate": "mix"}},
    "judge": "grounding",
    "run_dir": "runs/x",
}
PROBE = {"tasks": {"pocket": {}}}


def config(**changes: Any) -> RlConfig:
    return validate(RlConfig, {**GIVEN, **changes})


def test_rewards_have_a_weight_and_the_options_of_their_function() -> None:
    rewards = config().rewards
    assert (rewards["gsm8k"].weight, rewards["gsm8k"].options) == (2.0, {})
    assert (rewards["followup"].weight, rewards["followup"].options) == (1.0, {"rate": "mix"})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rewards": {}}, r"no reward is chosen; train/rewards has followup, gsm8k"),
        ({"rewards": {"politeness": {}}}, r"no train/rewards/politeness\.py"),
        ({"rewards": {"followup": {"rate": "all"}}}, r"rewards\.followup\.rate = 'all'"),
        ({"rewards": {"gsm8k": {"weight": 0}}}, r"rewards\.gsm8k\.weight"),
        ({"rewards": {"gsm8k": {"rate": "mix"}}}, r"unknown key 'rate' in rewards\.gsm8k"),
        ({"prompts": {}}, r"no prompts are chosen; train/prompts has arithmetic, dialogues, gsm8k"),
        ({"prompts": {"arithmetic": {"split": "test"}}}, r"unknown key 'split' in prompts\.arithmetic"),
        ({"prompts": {"pocket": {}}}, r"no train/prompts/pocket\.py"),
        ({"judge": {"name": "local", "kindness": 1}}, r"unknown key 'kindness' in judge"),
        ({"temperature": 0}, r"temperature"),
        ({"episode": "user_turn"}, r"rewards\.gsm8k is for the assistant's turn, which episode user_turn"),
        ({"lora": {"dropout": 0.1}}, r"lora\.dropout must be 0 here"),
        ({"lora": None, "dtype": "bfloat16"}, r"lora is null and dtype is bfloat16"),
        ({"accuracy_price": {}}, r"accuracy_price needs a probe"),
        ({"accuracy_price": {"reward": "speed"}, "probe": PROBE}, r"accuracy_price\.reward is 'speed'"),
        ({"probe": {"tasks": {"pockets": {}}}}, r"no eval/tasks/pockets\.py"),
        ({"probe": PROBE, "parallel": "fsdp2"}, r"parallel is fsdp2 and probe is set.*to null, or"),
        ({"format": {"name": "smollm2", "history": "as_last"}}, r"unknown key 'history' in format"),
        ({"top_p": 0.9}, r"unknown key 'top_p'"),
    ],
)
def test_what_cannot_work_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        config(**changes)


def test_a_user_turn_alone_has_its_reward_alone() -> None:
    alone = config(episode="user_turn", rewards={"followup": {}})
    assert list(alone.rewards) == ["followup"]


def test_rewards_and_prompts_are_set_on_the_command_line(tmp_path) -> None:
    given = ["--model", "m", "--format", "smollm2", "--judge", "local", "--max-episodes", "8", "--run-dir", "r"]
    options = ["--rewards.followup.rate", "specific", "--rewards.followup.weight", "0.5", "--prompts.gsm8k.limit", "9"]
    found = load(RlConfig, [*given, *options, "--trl.beta", "0.1"], prog="train.rl", about="")
    assert found.rewards["followup"].options == {"rate": "specific"} and found.rewards["followup"].weight == 0.5
    assert found.prompts == {"gsm8k": {"limit": 9}} and found.trl == {"beta": 0.1}
