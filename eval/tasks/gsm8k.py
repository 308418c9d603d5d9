"""GSM8K, grade-school math word problems: the model answers first (self-generated setting).

Source: https://github.com/openai/grade-school-math (Hub: openai/gsm8k, configuration main, revision below), MIT.
Splits: train 7,473 and test 1,319 rows. Metric: share of answers whose number equals the reference.
Prompt: zero-shot, version 1: the question and an instruction to end with `#### <number>` (`eval/grading/answers.py`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from eval.dialogue import Dialogue, Message
from eval.grading.answers import ask, grade_number
from eval.sources import Source, choose, read_source

VERSION = 1
"""Version of prompt, selection and grader; a run folder of another version is rejected."""

SOURCE = Source(
    url="https://huggingface.co/datasets/openai/gsm8k",
    licence="MIT",
    local=("gsm8k/{split}.jsonl",),
    hub_id="openai/gsm8k",
    revision="740312add88f781978c0658806c59bc2815b9866",
    hub_file="main/{split}-00000-of-00001.parquet",
)


def load(
    limit: int | None = None,
    seed: int = 0,
    *,
    data_dir: Path | None = None,
    split: Literal["train", "test"] = "test",
) -> list[Dialogue]:
    """The questions of a split, each with its answer as reference; `meta["row"]` is the 0-based data row.

    `limit` keeps the first of a shuffle seeded with `seed`, so a larger limit only adds questions.

    Raises:
        FileNotFoundError, ValueError: see `eval.sources.read_source`; a solution without `#### <number>`.
    """
    rows = enumerate(read_source(SOURCE, {"question": str, "answer": str}, split=split, data_dir=data_dir))
    return choose([_dialogue(split, row, place, **fields) for row, (place, fields) in rows], limit, seed)


def check(dialogue: Dialogue) -> bool | None:
    """Whether the assistant's number equals the reference; see `eval.grading.answers.grade_number`."""
    return grade_number(dialogue)


def _dialogue(split: str, row: int, place: str, question: str, answer: str) -> Dialogue:
    _, marker, reference = answer.rpartition("####")
    reference = reference.strip().replace(",", "")
    if not marker or not reference.removeprefix("-").isdecimal():
        raise ValueError(f"{place}: the answer does not end in '#### <whole number>'; use the official file")
    meta = {"split": split, "row": row}
    return Dialogue("gsm8k", (Message("user", ask(question)),), reference=reference, meta=meta)
