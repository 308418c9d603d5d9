"""GSM8K train questions, in the evaluation's prompt. Source and licence: `eval/tasks/gsm8k.py`."""

from __future__ import annotations

from pathlib import Path

from eval.dialogue import Dialogue
from eval.tasks import gsm8k


def load(limit: int | None = None, seed: int = 0, *, data_dir: Path | None = None) -> list[Dialogue]:
    """The questions of the train split, with the number as reference.

    Raises:
        FileNotFoundError, ValueError: see `eval.tasks.gsm8k.load`.
    """
    return gsm8k.load(limit, seed, data_dir=data_dir, split="train")
