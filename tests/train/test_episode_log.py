"""The episode log: dialogues with rewards and credit; a repeated step counts once."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from eval.config import ConfigError
from eval.dialogue import Dialogue, Judgement, Message
from eval.rows import read_rows
from train.episode_log import COLUMNS, EpisodeLog, table_rows
from train.episodes import Episode


def episode(row: int, turn: str = "Why?") -> Episode:
    start = Episode(Dialogue("sums", (Message("user", "Add 7 to 5."),), meta={"split": "train"}), row, (1,))
    answered = start.with_turn(Message("assistant", "12", "tiny", "stop", 1), [2])
    whole = answered.with_turn(Message("user", turn, "tiny"), [3])
    judged = replace(whole.dialogue, judgement=Judgement("other", False, "fake"), correct=True)
    worth = {"rewards": {"gsm8k": 1.0}, "advantages": {"gsm8k": 0.5}, "credit": {"assistant": 0.5, "user": 0.0}}
    return replace(whole, dialogue=judged, **worth)


def test_an_episode_is_a_dialogue_that_says_what_it_was_worth(tmp_path: Path) -> None:
    with EpisodeLog(tmp_path / "episodes.jsonl") as log:
        log.append(4, [episode(0), episode(1)])
    first, second = read_rows(tmp_path / "episodes.jsonl")
    assert first.messages[-1].text == "Why?" and first.correct is True and first.meta["split"] == "train"
    assert second.meta["episode"] == {
        "step": 4,
        "row": 1,
        "rewards": {"gsm8k": 1.0},
        "advantages": {"gsm8k": 0.5},
        "credit": {"assistant": 0.5, "user": 0.0},
    }


def test_a_step_that_is_made_again_replaces_its_episodes(tmp_path: Path) -> None:
    path = tmp_path / "episodes.jsonl"
    with EpisodeLog(path) as log:
        log.append(4, [episode(0, "before")])
    with path.open("a") as file:
        file.write('{"key": "000005-0')  # killed while it wrote
    with EpisodeLog(path) as log:
        log.append(4, [episode(0, "after")])
    assert [dialogue.messages[-1].text for dialogue in read_rows(path)] == ["after"]
    assert len(path.read_text().splitlines()) == 2


def test_a_damaged_file_is_an_error_that_says_where(tmp_path: Path) -> None:
    (tmp_path / "episodes.jsonl").write_text("no json\n")
    with pytest.raises(ConfigError, match=r"episodes\.jsonl line 1"):
        EpisodeLog(tmp_path / "episodes.jsonl")


def test_the_table_has_as_many_episodes_as_are_asked_for_from_all_over_the_step() -> None:
    rows = table_rows(2, [episode(row) for row in range(10)], 3)
    assert len(rows) == 3 and {len(row) for row in rows} == {len(COLUMNS)}
    assert table_rows(2, [episode(0)], 4) and not table_rows(2, [episode(0)], 0)
    assert json.dumps(rows)
