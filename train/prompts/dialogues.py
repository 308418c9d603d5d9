"""Contexts of a JSONL of dialogues, as `data_gen` or a probe writes it; rows of an evaluation are refused."""

from __future__ import annotations

from pathlib import Path

from eval.dialogue import Dialogue
from eval.sources import choose
from train.training_rows import read_training_rows


def load(limit: int | None = None, seed: int = 0, *, data_dir: Path | None = None, path: Path) -> list[Dialogue]:
    """The dialogues of `path`, whole: what of them an episode starts from depends on the episode.

    Raises:
        ConfigError: no such file, a line that is no dialogue, or a row of an evaluation.
        ValueError: a limit below 1.
    """
    return choose([row.dialogue for row in read_training_rows(path).rows], limit, seed)
