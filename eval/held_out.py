"""Which rows are for evaluation, and so never for training. It knows no text; `data_gen/leaks.py` compares texts."""

from __future__ import annotations

from eval import plugin
from eval.dialogue import Dialogue

TRAIN_SPLITS = frozenset({("arithmetic", "train"), ("gsm8k", "train")})
"""(task, split) of the training splits of evaluation data sets."""


def is_for_training(dialogue: Dialogue) -> bool:
    """Whether a dialogue may be trained on, judging by its task, split, canary and gated flag."""
    if "canary" in dialogue.meta or dialogue.meta.get("gated"):
        return False
    return (dialogue.task, dialogue.meta.get("split")) in TRAIN_SPLITS or not _is_evaluated(dialogue.task)


def _is_evaluated(task: str) -> bool:
    """Whether a task is one of `eval/tasks/`, or a part of one such as "pocket_math"."""
    return task.startswith(tuple(plugin.names("eval.tasks")))
