"""The texts of the rows that models are measured on, as the data sets have them, before any prompt is put around them.

Questions, responses and reference solutions, whether or not a probe shows them. So a generated turn, or a seed, can be
compared with all that it must not repeat. What a prompt adds (`eval.grading.answers.ask`) is no text of a row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from data_gen.seeds.gsm8k import CALCULATOR_NOTE
from eval import plugin
from eval.config import ConfigError
from eval.data_files import Columns, read_file
from eval.dialogue import Dialogue
from eval.grading.answers import INSTRUCTION
from eval.sources import read_source
from eval.tasks import pocket


@dataclass(frozen=True)
class Kept:
    """Which columns of a task's files hold text of a row."""

    columns: Columns
    splits: tuple[str, ...] = ("",)
    """Those that a probe may use; one of them has to be there."""


OPTION = "Incorrect Answer {}".format
KEPT = {
    "coval": Kept({"prompt": dict, "responses": list}),
    "gpqa": Kept(dict.fromkeys(("Question", "Correct Answer", *map(OPTION, "123")), str), ("main", "diamond")),
    "gsm8k": Kept({"question": str, "answer": str}, ("test",)),
    "healthbench": Kept({"prompt": list, "ideal_completions_data": dict | None}),
    "ifbench": Kept({"prompt": str}),
    "ifeval": Kept({"prompt": str}),
}
"""By task. Of one that is not named here, what its `load` gives is compared: so a new task is never left out."""
POCKET: dict[str, Columns] = {
    "pocket_math.jsonl": {"question": str, "solution": str},
    "pocket_instructions.jsonl": {"prompt": str, "good": str},
    "pocket_conversations.jsonl": {"messages": list},
}
"""By file in the package, which are of three shapes."""


@dataclass(frozen=True)
class EvaluationTexts:
    """What was read for the comparison."""

    texts: list[tuple[str, str]]
    """(row, text), such as ("gsm8k test row 7", "Tom has ...")."""
    rows: dict[str, int]
    """Task to the number of its rows."""
    missing: dict[str, str]
    """Task to why it could not be had."""


def read_evaluation_texts(
    tasks: Iterable[str], data_dir: Path | None, missing: Literal["error", "warn"]
) -> EvaluationTexts:
    """Every text of the rows of `tasks`.

    Raises:
        ConfigError: a file is malformed, or, unless `missing` is "warn", not to be had.
    """
    found = EvaluationTexts([], {}, {})
    for task in tasks:
        try:
            rows = list(_rows(task, data_dir))
        except FileNotFoundError as error:
            if missing == "error":
                raise ConfigError(
                    f"leak_check: {error}. Without it no one can say that the data has none of its rows; "
                    "fetch it, or go on without it by leak_check.missing: warn, and the card says so"
                ) from error
            found.missing[task] = str(error)
        except ValueError as error:
            raise ConfigError(f"leak_check: {error}") from error
        else:
            found.rows[task] = len(rows)
            found.texts.extend((row, text) for row, value in rows for text in _strings(value))
    return found


def _rows(task: str, data_dir: Path | None) -> Iterator[tuple[str, Any]]:
    """(name, columns that hold text) of every row of a task.

    Raises:
        FileNotFoundError: there is none of its splits.
    """
    if task == "pocket":
        for name, columns in POCKET.items():
            yield from _named(name.removesuffix(".jsonl"), read_file(pocket.FOLDER / name, columns))
        return
    module = plugin.load("eval.tasks", task)
    if task not in KEPT:
        yield from ((f"{one.task} {one.id}", _said(one)) for one in module.load(data_dir=data_dir))
        return
    kept = KEPT[task]
    absent: list[FileNotFoundError] = []
    for split in kept.splits:
        try:
            yield from _named(
                f"{task} {split}".strip(), read_source(module.SOURCE, kept.columns, split=split, data_dir=data_dir)
            )
        except FileNotFoundError as error:
            absent.append(error)
    if len(absent) == len(kept.splits):
        raise absent[-1]


def _said(dialogue: Dialogue) -> list[str]:
    """The texts of a loaded row, without the instruction that our prompt puts behind a question."""
    return [text for message in dialogue.messages for text in message.text.split(INSTRUCTION)]


def _named(name: str, rows: Iterable[tuple[str, dict[str, Any]]]) -> Iterator[tuple[str, Any]]:
    return ((f"{name} row {number}", row) for number, (_, row) in enumerate(rows))


def _strings(value: Any) -> Iterator[str]:
    """Every string in a JSON value; names of roles and the like are too short to be compared."""
    if isinstance(value, str):
        yield CALCULATOR_NOTE.sub("", value)
    elif isinstance(value, dict):
        yield from (text for inner in value.values() for text in _strings(inner))
    elif isinstance(value, list):
        yield from (text for inner in value for text in _strings(inner))
