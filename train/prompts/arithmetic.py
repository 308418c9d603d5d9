"""Small word problems of our own, for models that are never right on GSM8K. Source: `eval/tasks/arithmetic.py`."""

from __future__ import annotations

from pathlib import Path

from eval.dialogue import Dialogue
from eval.tasks import arithmetic


def load(limit: int | None = None, seed: int = 0, *, data_dir: Path | None = None) -> list[Dialogue]:
    """The problems of the train split, with the number as reference; those of the test split are held out."""
    return arithmetic.load(limit, seed, data_dir=data_dir, split="train")
