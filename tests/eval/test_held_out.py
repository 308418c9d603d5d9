"""Which rows may be trained on, by their task and marks."""

from __future__ import annotations

import pytest

from eval import plugin
from eval.dialogue import Dialogue, Message
from eval.held_out import is_for_training

TASKS = [*plugin.names("eval.tasks"), "pocket_math", "pocket_conversations", "gpqa_diamond", "healthbench_real_user"]


def row(task: str, **meta: object) -> Dialogue:
    return Dialogue(task, (Message("user", "q"),), meta=meta)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("split", [None, "test", "Train"])
def test_a_row_of_an_evaluation_is_not(task: str, split: str | None) -> None:
    assert not is_for_training(row(task, split=split))


@pytest.mark.parametrize("task", sorted({*TASKS} - {"arithmetic", "gsm8k"}))
def test_most_sets_have_no_train_split(task: str) -> None:
    assert not is_for_training(row(task, split="train"))


def test_a_train_split_may_be_trained_on() -> None:
    assert is_for_training(row("gsm8k", split="train")) and is_for_training(row("arithmetic", split="train"))


def test_what_is_no_evaluation_is_unless_it_is_marked() -> None:
    assert is_for_training(row("collab")) and is_for_training(row("written", topic="math"))
    assert not is_for_training(row("collab", canary="healthbench:0")) and not is_for_training(row("x", gated=True))
