"""Small word problems made for this project, for models that never solve GSM8K. Source: `eval/tasks/arithmetic.py`."""

from __future__ import annotations

from pathlib import Path

from eval.dialogue import Dialogue
from eval.tasks import arithmetic


def load(limit: int | None = None, seed: int = 0, *, data_dir: Path | None = None) -> list[Dialogue]:
    """The problems of the train split, with the number as reference; the test split is held out."""
    return arithmetic.load(limit, seed, data_dir=data_dir, split="train")
