"""Display names of tasks, in the order in which tables and figures show them."""

from __future__ import annotations

from eval.summary import Setting

HEADINGS = {
    "gsm8k": "GSM8K",
    "ifeval": "IFEval",
    "ifbench": "IFBench",
    "gpqa": "GPQA",
    "gpqa_main": "GPQA Main",
    "gpqa_diamond": "GPQA Diamond",
    "healthbench": "HealthBench",
    "healthbench_real_user": "HealthBench real users",
    "coval": "CoVal",
    "coval_real_user": "CoVal real users",
    "pocket_math": "pocket math",
    "pocket_instructions": "pocket instructions",
    "pocket_conversations": "pocket conversations",
}
"""Known tasks in display order; any other task follows them under its own name."""

SETTINGS: dict[Setting | None, str] = {
    "self-generated": "self-generated",
    "cross": "on another model's answers",
    "held-out": "held-out",
    None: "setting unknown",
}

FOLLOW_UP: dict[Setting | None, str] = {
    "self-generated": "follow-up",
    "cross": "cross",
    "held-out": "held-out",
    None: "follow-up (setting unknown)",
}
"""The heading of a column of follow-up rates, by setting."""


def accuracy_heading(task: str) -> str:
    """The heading of a column of accuracies."""
    return f"{heading(task)} accuracy %"


def follow_up_heading(task: str, setting: Setting | None) -> str:
    """The heading of a column of follow-up rates."""
    return f"{heading(task)} {FOLLOW_UP[setting]} %"


def heading(task: str) -> str:
    """The display name of a task."""
    return HEADINGS.get(task, task)


def place(task: str) -> tuple[int, str]:
    """Sort key: known tasks in display order, then the others by name."""
    return (list(HEADINGS).index(task) if task in HEADINGS else len(HEADINGS), task)
