"""Arithmetic word problems written for this project, with worked solutions; train split only, test is for evaluation.

Source: `eval/tasks/arithmetic.py`, and this file for the responses (Apache-2.0). Small models almost never solve
GSM8K; these problems teach them how an answer ends and what a user may say to it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from eval.dialogue import Dialogue, Message, content_hash
from eval.sources import choose
from eval.tasks import arithmetic
from eval.tasks.arithmetic import Problem

LICENCE = arithmetic.SOURCE.licence
ORIGIN = arithmetic.SOURCE.url

FIRST = {
    "+": ("{b} {things} come on top of {a}, so we add.", "We start from {a} {things} and count {b} more."),
    "-": ("{b} of the {a} {things} go away, so we subtract.", "We start from {a} {things} and take {b} from them."),
    "*": ("There are {a} times {b} {things}, so we multiply.", "Each of the {a} holds {b} {things}."),
}
"""First sentence of a response, by the operation of its calculation."""
THEN = ("{a} {sign} {b} = {answer} {things}.", "That gives {a} {sign} {b} = {answer}.")
ENDING = "\n#### {answer}"


def load(limit: int | None = None, seed: int = 0, *, data_dir: Path | None = None) -> list[Dialogue]:
    """The problems of the train split with their correct solutions; `data_dir` is not used.

    `limit` keeps the first problems of a shuffle seeded with `seed`, so a larger limit only adds problems.

    Raises:
        ValueError: a limit below 1.
    """
    return choose(list(_solved_problems()), limit, seed)


def _solved_problems() -> Iterator[Dialogue]:
    for question, problem in arithmetic.problems("train"):
        yield replace(question.says(Message("assistant", _solution(problem))), correct=True)


def _solution(problem: Problem) -> str:
    drawn = int(content_hash(problem.question), 16) // 5
    first = FIRST[problem.sign][drawn % 2]
    text = f"{first} {THEN[drawn // 2 % 2]}{ENDING}"
    return text.format(**problem._asdict(), answer=problem.answer)
