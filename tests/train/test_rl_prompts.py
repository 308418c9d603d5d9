"""The prompts of episodes: cut where an episode starts, without duplicates, never a row of an evaluation."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval.config import ConfigError, validate
from eval.dialogue import Dialogue, Message
from eval.tasks import pocket
from train.rl_config import RlConfig
from train.rl_prompts import cut, open_prompts


def config(prompts: dict[str, Any], **changes: Any) -> RlConfig:
    given = {
        "model": "models/x",
        "format": "smollm2",
        "prompts": prompts,
        "max_episodes": 64,
        "rewards": {"followup": {}},
        "judge": "grounding",
        "run_dir": "runs/x",
    }
    return validate(RlConfig, {**given, **changes})


def test_an_episode_of_two_turns_starts_from_the_first_question(make_conversation: Callable[..., Dialogue]) -> None:
    start = cut(make_conversation(8), "two_turn", "row 1")
    assert [message.role for message in start.messages] == ["user"]
    with_system = Dialogue("t", (Message("system", "Be brief."), *make_conversation(8).messages))
    assert [message.role for message in cut(with_system, "two_turn", "row 1").messages] == ["system", "user"]


def test_an_episode_of_a_user_turn_starts_from_the_last_answer(make_conversation: Callable[..., Dialogue]) -> None:
    dialogue = make_conversation(8).says(Message("user", "Thanks.", "someone", "stop", 2))
    start = cut(dialogue, "user_turn", "row 1")
    assert [message.role for message in start.messages] == ["user", "assistant", "user", "assistant"]
    assert {message.by for message in start.messages} == {"data"}


def test_a_row_that_no_episode_starts_from_is_named(tmp_path: Path, write_dialogues: Callable[..., Path]) -> None:
    path = write_dialogues(tmp_path / "x.jsonl", [Dialogue("t", (Message("user", "Add 7 to 5."),))])
    with pytest.raises(ConfigError, match=r"prompts\.dialogues row 1 .* has no turn of the assistant"):
        open_prompts(config({"dialogues": {"path": str(path)}}, episode="user_turn"))


def test_a_start_comes_once(tmp_path: Path, write_dialogues: Callable[..., Path], make_conversation: Any) -> None:
    first = make_conversation(8)
    longer = first.says(Message("user", "Thanks."))
    path = write_dialogues(tmp_path / "x.jsonl", [first, longer, make_conversation(9)])
    starts = open_prompts(config({"dialogues": {"path": str(path)}}))
    assert len(starts) == 2 and all(id == row.dialogue.id for id, row in starts.items())


def test_several_sources_are_joined_and_keep_their_reference() -> None:
    starts = open_prompts(config({"arithmetic": {"limit": 5}}))
    assert len(starts) == 5
    assert all(row.dialogue.reference and row.dialogue.meta["split"] == "train" for row in starts.values())


def test_rows_of_an_evaluation_are_refused(tmp_path: Path, write_dialogues: Callable[..., Path]) -> None:
    path = write_dialogues(tmp_path / "x.jsonl", pocket.load(2))
    with pytest.raises(ConfigError, match="pocket"):
        open_prompts(config({"dialogues": {"path": str(path)}}))


def test_gsm8k_is_its_train_split(data_dir: Path) -> None:
    starts = open_prompts(config({"gsm8k": {"limit": 3}}, data_dir=data_dir))
    assert {row.dialogue.meta["split"] for row in starts.values()} == {"train"}
