"""GSM8K's train questions, each answered by its official solution; its test questions are evaluation and never here.

Source, licence and files: `eval/tasks/gsm8k.py`. The notes of the calculator (`<<6*3=18>>`) are taken out; what stays
is text that a person wrote, and it ends so that the evaluation's grader reads the reference from it.
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
"""How a response ends; the first is what the instruction of the evaluation's prompt asks for."""


def load(
    limit: int | None = None,
    seed: int = 0,
    *,
    data_dir: Path | None = None,
    prompt: Literal["instructed", "plain", "both"] = "both",
) -> list[Dialogue]:
    """The questions of the train split with their solutions, all of them graded right.

    `prompt`: "instructed" asks as the evaluation does, "plain" asks the bare question, "both" does one or the other by
    the hash of the question, half each. A solution ends as instructed, after a plain question in one of `ENDINGS`.
    `limit` takes the first of a shuffle seeded with `seed`, so a larger limit only adds questions.

    Raises:
        FileNotFoundError, ValueError: see `eval.sources.read_source`; a solution that the grader does not read right.
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
    asked = ask(question) if instructed else question.strip()
    dialogue = Dialogue(
        "gsm8k",
        (Message("user", asked), Message("assistant", solution)),
        reference=number[1].replace(",", ""),
        meta={"split": "train", "row": row},
        correct=True,
    )
    if not gsm8k.check(dialogue):
        raise ValueError(f"{place}: its solution is not graded right; use the official file")
    return dialogue
