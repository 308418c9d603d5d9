"""One-step word problems with small numbers, generated from templates, which a 135M model sometimes solves.

Source: written for this project, in this file (Apache-2.0, like the code). Splits: train 1,600 and test 400 rows, by
the hash of the question. Prompt and metric as in GSM8K: share of answers whose number equals the reference. Not for
claims about a model: this set is for rewards and guards of small models, which are never right on GSM8K.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import count, islice
from operator import add, mul, sub
from pathlib import Path
from typing import Literal, NamedTuple

from eval.dialogue import Dialogue, Message, content_hash
from eval.grading.answers import ask, grade_number
from eval.sources import Source, choose

VERSION = 1
"""Version of prompt, selection and grader; a run folder of another version is rejected."""

SOURCE = Source(url="written for this project", licence="Apache-2.0", local=())

ROWS = {"train": 1600, "test": 400}
NAMES = ("Ada", "Bram", "Chidi", "Dunja", "Emre", "Farida", "Goran", "Hana", "Ivo", "Jun", "Kofi", "Lotte", "Mira")
THINGS = ("marbles", "stamps", "pears", "buttons", "candles", "postcards", "shells", "pencils", "lemons", "badges")
PLACES = ("bag", "basket", "jar", "drawer", "bowl")


SIGNS: dict[str, Callable[[int, int], int]] = {"+": add, "-": sub, "*": mul}
TEMPLATES = (
    ("{name} has {a} {things} and finds {b} more. How many {things} does {name} have now?", "+"),
    ("{name} had {a} {things} and gave away {b}. How many {things} are left?", "-"),
    ("{name} picks {a} {things} and then {b} more. How many {things} does {name} pick?", "+"),
    ("There are {a} {things} in a {place}. {name} takes out {b}. How many {things} are in it now?", "-"),
    ("{name} has {a} {places} with {b} {things} in each. How many {things} is that?", "*"),
)


class Problem(NamedTuple):
    """A question, the things it counts, and the calculation that answers it: `a` sign `b`, the larger number first."""

    question: str
    things: str
    a: int
    sign: str
    b: int

    @property
    def answer(self) -> int:
        """The result of the calculation."""
        return SIGNS[self.sign](self.a, self.b)


def load(
    limit: int | None = None,
    seed: int = 0,
    *,
    data_dir: Path | None = None,
    split: Literal["train", "test"] = "test",
) -> list[Dialogue]:
    """The problems of a split, each with its answer as reference; `data_dir` is not used.

    `limit` keeps the first of a shuffle seeded with `seed`, so a larger limit only adds problems.

    Raises:
        ValueError: a limit below 1.
    """
    return choose([dialogue for dialogue, _ in problems(split)], limit, seed)


def problems(split: str) -> Iterator[tuple[Dialogue, Problem]]:
    """Every problem of a split, as a dialogue and as a `Problem`, in generation order."""
    for row, problem in enumerate(islice(_split_problems(split), ROWS[split])):
        query, meta = Message("user", ask(problem.question)), {"split": split, "row": row}
        yield Dialogue("arithmetic", (query,), reference=str(problem.answer), meta=meta), problem


def check(dialogue: Dialogue) -> bool | None:
    """Whether the assistant's number equals the reference; see `eval.grading.answers.grade_number`."""
    return grade_number(dialogue)


def _split_problems(split: str) -> Iterator[Problem]:
    """An endless stream of distinct problems; one in five, by the hash of the question, is a test problem."""
    seen = set()
    for number in count():
        problem = _problem(random.Random(f"arithmetic {number}"))
        is_test = int(content_hash(problem.question), 16) % 5 == 0
        if problem.question not in seen and is_test == (split == "test"):
            seen.add(problem.question)
            yield problem


def _problem(draw: random.Random) -> Problem:
    b = draw.randint(2, 9)
    a = draw.randint(b + 1, 12)
    (template, sign), place = draw.choice(TEMPLATES), draw.choice(PLACES)
    words = {"name": draw.choice(NAMES), "things": draw.choice(THINGS), "place": place, "places": f"{place}s"}
    return Problem(template.format(a=a, b=b, **words), words["things"], a, sign, b)
