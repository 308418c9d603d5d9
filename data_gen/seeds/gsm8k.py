"""GSM8K's train questions with their official solutions; the test questions are for evaluation and never used here.

Source, licence and files: `eval/tasks/gsm8k.py`. Calculator annotations (`<<6*3=18>>`) are removed; what remains is
human-written text that ends in a form from which the evaluation's grader extracts the reference.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

from eval.dialogue import Dialogue, Message, content_hash
from eval.grading.answers import ask
from eval.sources import choose, read_source
from eval.tasks import gsm8k

LICENCE = gsm8k.SOURCE.licence
ORIGIN = gsm8k.SOURCE.url
CALCULATOR_NOTE = re.compile(r"<<[^<>]*>>")
FINAL = re.compile(r"\s*####\s*(\S+)\s*$")
ENDINGS = ("\n#### {}", "\nThe answer is {}.", "\nSo the answer is {}.", "\nAnswer: {}")
"""Endings of a response; the first is the one that the instruction of the evaluation's prompt asks for."""


def load(
    limit: int | None = None,
    seed: int = 0,
    *,
    data_dir: Path | None = None,
    prompt: Literal["instructed", "plain", "both"] = "both",
) -> list[Dialogue]:
    """The questions of the train split with their solutions, all graded as correct.

    `prompt`: "instructed" uses the evaluation's prompt, "plain" the bare question, "both" one of the two by a hash of
    the question, half each. A solution ends as instructed, or, after a plain question, in any of `ENDINGS`.
    `limit` keeps the first of a shuffle seeded with `seed`, so a larger limit only adds questions.

    Raises:
        FileNotFoundError, ValueError: see `eval.sources.read_source`; also if the grader rejects a solution.
    """
    columns = {"question": str, "answer": str}
    rows = enumerate(read_source(gsm8k.SOURCE, columns, split="train", data_dir=data_dir))
    return choose([_dialogue(prompt, row, place, **fields) for row, (place, fields) in rows], limit, seed)


def _dialogue(prompt: str, row: int, place: str, question: str, answer: str) -> Dialogue:
    number = FINAL.search(answer)
    if number is None:
        raise ValueError(f"{place}: the answer does not end in '#### <number>'; use the official file")
    drawn = int(content_hash(question), 16)
    instructed = prompt == "instructed" or (prompt == "both" and drawn % 2 == 0)
    ending = ENDINGS[0] if instructed else ENDINGS[drawn // 2 % len(ENDINGS)]
    solution = CALCULATOR_NOTE.sub("", answer[: number.start()]).strip() + ending.format(number[1])
    prompted = ask(question) if instructed else question.strip()
    dialogue = Dialogue(
        "gsm8k",
        (Message("user", prompted), Message("assistant", solution)),
        reference=number[1].replace(",", ""),
        meta={"split": "train", "row": row},
        correct=True,
    )
    if not gsm8k.check(dialogue):
        raise ValueError(f"{place}: its solution is not graded as correct; use the official file")
    return dialogue
