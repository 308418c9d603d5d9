"""The log of a run's episodes, `episodes.jsonl`: one dialogue per line, with step, rewards, advantages and credit.

A row store like a probe's (`eval/rows.py`): a step that is repeated after a kill replaces its earlier episodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from eval.config import ConfigError
from eval.dialogue import Dialogue
from eval.rows import RowStore
from train.episodes import Episode

COLUMNS = ("step", "question", "answer", "user turn", "correct", "label", "genuine", "rewards", "credit")
"""Of the tracker's table of episodes."""


class EpisodeLog:
    """Append-only; a context manager."""

    def __init__(self, path: Path) -> None:
        """Open or create the file.

        Raises:
            ConfigError: the file is damaged, or another process is writing to it.
        """
        try:
            self._rows = RowStore(path)
        except (OSError, ValueError) as error:
            raise ConfigError(str(error)) from error

    def __enter__(self) -> EpisodeLog:
        return self

    def __exit__(self, *error: object) -> None:
        self._rows.__exit__(*error)

    def append(self, step: int, episodes: Sequence[Episode]) -> None:
        """Write the episodes that were sampled from the policy after `step` optimizer steps."""
        for episode in episodes:
            self._rows.append(f"{step:06d}-{episode.row:04d}", _logged_dialogue(step, episode))


def _logged_dialogue(step: int, episode: Episode) -> Dialogue:
    """The dialogue of an episode, with its rewards, advantages and credit in `meta["episode"]`."""
    scores = {
        "step": step,
        "row": episode.row,
        "rewards": dict(episode.rewards),
        "advantages": dict(episode.advantages),
        "credit": dict(episode.credit),
    }
    return replace(episode.dialogue, meta={**episode.dialogue.meta, "episode": scores})


def table_rows(step: int, episodes: Sequence[Episode], count: int) -> list[list[Any]]:
    """Rows of `COLUMNS` for `count` evenly spaced episodes of a step."""
    every = max(1, len(episodes) // count) if count else 1
    return [_row(step, episode) for episode in episodes[::every][:count]]


def _row(step: int, episode: Episode) -> list[Any]:
    dialogue, judgement = episode.dialogue, episode.dialogue.judgement
    answer = dialogue.last("assistant")
    question = next((message.text for message in dialogue.messages if message.role == "user"), "")
    return [
        step,
        question,
        answer.text if answer else "",
        dialogue.messages[-1].text,
        str(dialogue.correct),
        judgement.label if judgement else "",
        str(judgement.genuine) if judgement else "unknown",
        str(episode.rewards),
        str({role: round(value, 3) for role, value in episode.credit.items()}),
    ]
