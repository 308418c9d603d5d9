"""Pocket, a small set that ships with the package: 40 math problems, 30 instructions, 30 held-out conversations.

Source: written for this project (Apache-2.0, like the code), in the formats of the larger sets, so that everything runs
on a laptop without a network. Split: one. Tasks and metric: `pocket_math`, the number equals the reference as in GSM8K;
`pocket_instructions`, every constraint in `meta` is met; `pocket_conversations`, which end in an assistant response,
are not graded. Too small for a claim about a model.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from eval.data_files import read_file
from eval.dialogue import Dialogue, Message
from eval.grading.answers import ask, grade_number
from eval.grading.constraints import satisfies
from eval.sources import Source, choose, read_messages

VERSION = 1
"""Version of prompt, selection and grader; a run folder of another version is rejected."""

SOURCE = Source(
    url="written for this project",
    licence="Apache-2.0",
    local=("pocket_math.jsonl", "pocket_instructions.jsonl", "pocket_conversations.jsonl"),
)
FOLDER = Path(__file__).parent


def load(limit: int | None = None, seed: int = 0, *, data_dir: Path | None = None) -> list[Dialogue]:
    """The three parts in order; `limit` applies to each part. `data_dir` is not used: the files are in this folder.

    Raises:
        ValueError: a malformed row, or a limit below 1.
    """
    parts = (list(_math()), list(_instructions()), list(_conversations()))
    return [dialogue for part in parts for dialogue in choose(part, limit, seed)]


def check(dialogue: Dialogue) -> bool | None:
    """Math: the number is correct. Instructions: every constraint is met; a truncated answer fails. Otherwise None."""
    if dialogue.task == "pocket_math":
        return grade_number(dialogue)
    answer = dialogue.last("assistant")
    if dialogue.task != "pocket_instructions" or answer is None:
        return None
    return answer.finish != "length" and satisfies(answer.text, dialogue.meta["constraints"])


def _math() -> Iterator[Dialogue]:
    for row, (_, fields) in _rows("pocket_math.jsonl", {"question": str, "reference": str}):
        message = Message("user", ask(fields["question"]))
        yield Dialogue("pocket_math", (message,), reference=fields["reference"], meta={"row": row})


def _instructions() -> Iterator[Dialogue]:
    for row, (_, fields) in _rows("pocket_instructions.jsonl", {"prompt": str, "constraints": list}):
        meta = {"row": row, "constraints": fields["constraints"]}
        yield Dialogue("pocket_instructions", (Message("user", fields["prompt"]),), meta=meta)


def _conversations() -> Iterator[Dialogue]:
    for row, (place, fields) in _rows("pocket_conversations.jsonl", {"messages": list}):
        yield Dialogue("pocket_conversations", read_messages(place, fields["messages"]), meta={"row": row})


def _rows(name: str, columns: dict[str, type]) -> Iterator[tuple[int, tuple[str, dict[str, Any]]]]:
    return enumerate(read_file(FOLDER / name, columns))
