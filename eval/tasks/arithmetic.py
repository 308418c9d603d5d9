"""Word problems of one step and small numbers, made from templates: a model of 135 million weights is right at times.

Source: written for this project, in this file (Apache-2.0, like the code). Splits: train 1,600 and test 400 rows, by
the hash of the question. Metric: share of answers whose number equals the reference, as in GSM8K, and asked as there.
A claim about a model needs a real set: this one is for rewards and guards of small models, never right on GSM8K.
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
"""Of prompt, selection and grader: a run folder made with another one is refused."""

SOURCE = Source(url="written for this project", licence="Apache-2.0", local=())

ROWS = {"train": 1600, "test": 400}
NAMES = ("Ada", "Bram", "Chidi", "Dunja", "Emre", "Farida", "Goran", "Hana", "Ivo", "Jun", "Kofi", "Lotte", "Mira")
THINGS = ("marbles", "stamps", "pears", "buttons", "candles", "postcards", "shells", "pencils", "lemons", "badges")
PLACES = ("bag", "basket", "jar", "drawer", "bowl")


class Template(NamedTuple):
    """A problem of two numbers, the larger first, with its answer."""

    text: str
    answer: Callable[[int, int], int]


TEMPLATES = (
    Template("{name} has {a} {things} and finds {b} more. How many {things} does {name} have now?", add),
    Template("{name} had {a} {things} and gave away {b}. How many {things} are left?", sub),
    Template("{name} picks {a} {things} and then {b} more. How many {things} does {name} pick?", add),
    Template("There are {a} {things} in a {place}. {name} takes out {b}. How many {things} are in it now?", sub),
    Template("{name} has {a} {places} with {b} {things} in each. How many {things} is that?", mul),
)


def load(
    limit: int | None = None,
    seed: int = 0,
    *,
    data_dir: Path | None = None,
    split: Literal["train", "test"] = "test",
) -> list[Dialogue]:
    """The problems of a split, each with its number as reference; `data_dir` is not read: there is no file.

    `limit` takes the first of a shuffle seeded with `seed`, so a larger limit only adds problems.

    Raises:
        ValueError: a limit below 1.
    """
    rows = enumerate(islice(_of_split(split), ROWS[split]))
    return choose(
        [
            Dialogue(
                "arithmetic", (Message("user", ask(text)),), reference=str(answer), meta={"split": split, "row": row}
            )
            for row, (text, answer) in rows
        ],
        limit,
        seed,
    )


def check(dialogue: Dialogue) -> bool | None:
    """Whether the assistant's number is the reference; see `eval.grading.answers.grade_number`."""
    return grade_number(dialogue)


def _of_split(split: str) -> Iterator[tuple[str, int]]:
    """Different problems with their answers: every fifth, by the hash of the text, is a test problem."""
    seen = set()
    for number in count():
        text, answer = _problem(random.Random(f"arithmetic {number}"))
        if text not in seen and (int(content_hash(text), 16) % 5 == 0) == (split == "test"):
            seen.add(text)
            yield text, answer


def _problem(draw: random.Random) -> tuple[str, int]:
    b = draw.randint(2, 9)
    a = draw.randint(b + 1, 12)
    template, place = draw.choice(TEMPLATES), draw.choice(PLACES)
    words = {"name": draw.choice(NAMES), "things": draw.choice(THINGS), "place": place, "places": f"{place}s"}
    return template.text.format(a=a, b=b, **words), template.answer(a, b)
