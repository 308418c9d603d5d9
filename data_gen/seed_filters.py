"""Rejects seeds that contain text of an evaluation row, and seeds whose answer is graded as wrong."""

from __future__ import annotations

from data_gen.filter_context import Context, Reason
from data_gen.leaks import leak_in
from eval import plugin
from eval.dialogue import Dialogue


def seed_reason(seed: Dialogue, context: Context) -> Reason | None:
    """Why a seed is rejected; None if it is used."""
    return leak_in(seed, 0, context.evaluation) or _wrong_answer(seed, context)


def is_right(seed: Dialogue) -> bool | None:
    """Whether the grader of the seed's task accepts its answer; None if there is no such task or grader."""
    if seed.task not in plugin.names("eval.tasks"):
        return None
    verdict: bool | None = plugin.load("eval.tasks", seed.task).check(seed)
    return verdict


def _wrong_answer(seed: Dialogue, context: Context) -> Reason | None:
    if context.limits.correct_answers and is_right(seed) is False:
        return Reason("wrong_answer", f"not {seed.reference}")
    return None
