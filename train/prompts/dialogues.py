"""Dialogues of a JSONL file as `data_gen` or a probe writes it; rows of an evaluation are refused."""

from __future__ import annotations

from pathlib import Path

from eval.dialogue import Dialogue
from eval.sources import choose
from train.training_rows import read_training_rows


def load(limit: int | None = None, seed: int = 0, *, data_dir: Path | None = None, path: Path) -> list[Dialogue]:
    """The whole dialogues of `path`; where an episode starts in them depends on the kind of episode.

    Raises:
        ConfigError: the file is missing, a line is not a dialogue, or a row belongs to an evaluation.
        ValueError: `limit` is below 1.
    """
    return choose([row.dialogue for row in read_training_rows(path).rows], limit, seed)
