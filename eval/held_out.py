"""Which rows models are measured on, and so are never trained on. It knows no text; `leaks.py` compares texts."""

from __future__ import annotations

from eval import plugin
from eval.dialogue import Dialogue

TRAIN_SPLITS = frozenset({("arithmetic", "train"), ("gsm8k", "train")})
"""(task, split) of evaluation's data sets that are made to train on."""


def is_for_training(dialogue: Dialogue) -> bool:
    """Whether a dialogue may be trained on, as far as its task and its marks tell."""
    if "canary" in dialogue.meta or dialogue.meta.get("gated"):
        return False
    return (dialogue.task, dialogue.meta.get("split")) in TRAIN_SPLITS or not _is_measured(dialogue.task)


def _is_measured(task: str) -> bool:
    """Whether a task is one of `eval/tasks/`, or a part of one such as "pocket_math"."""
    return task.startswith(tuple(plugin.names("eval.tasks")))
