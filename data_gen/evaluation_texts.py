"""The texts of evaluation rows as the data sets contain them, without the prompt (`eval.grading.answers.ask`).

Includes questions, responses and reference solutions, whether or not a probe shows them to a model, so that seeds and
generated turns can be compared with everything they must not repeat.
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
class TextColumns:
    """Which columns of a task's files contain text to compare with."""

    columns: Columns
    splits: tuple[str, ...] = ("",)
    """The splits that a probe may use; at least one must be available."""


OPTION = "Incorrect Answer {}".format
TEXT_COLUMNS = {
    "coval": TextColumns({"prompt": dict, "responses": list}),
    "gpqa": TextColumns(dict.fromkeys(("Question", "Correct Answer", *map(OPTION, "123")), str), ("main", "diamond")),
    "gsm8k": TextColumns({"question": str, "answer": str}, ("test",)),
    "healthbench": TextColumns({"prompt": list, "ideal_completions_data": dict | None}),
    "ifbench": TextColumns({"prompt": str}),
    "ifeval": TextColumns({"prompt": str}),
}
"""By task. For a task that is not listed, the messages its `load` returns are compared, so a new task is covered."""
POCKET: dict[str, Columns] = {
    "pocket_math.jsonl": {"question": str, "solution": str},
    "pocket_instructions.jsonl": {"prompt": str, "good": str},
    "pocket_conversations.jsonl": {"messages": list},
}
"""By file of the `pocket` task; the three files have different columns."""


@dataclass(frozen=True)
class EvaluationTexts:
    """Evaluation texts to compare with, and which tasks they come from."""

    texts: list[tuple[str, str]]
    """(row, text), such as ("gsm8k test row 7", "Tom has ...")."""
    rows: dict[str, int]
    """Task -> number of its rows."""
    missing: dict[str, str]
    """Task -> why its data is not available."""


def read_evaluation_texts(
    tasks: Iterable[str], data_dir: Path | None, missing: Literal["error", "warn"]
) -> EvaluationTexts:
    """Every text of the rows of `tasks`.

    Raises:
        ConfigError: a file is malformed, or it is not available and `missing` is "error".
    """
    found = EvaluationTexts([], {}, {})
    for task in tasks:
        try:
            rows = list(_rows(task, data_dir))
        except FileNotFoundError as error:
            if missing == "error":
                raise ConfigError(
                    f"leak_check: {error}. Without it, overlap with its rows cannot be ruled out; download it, "
                    "or set leak_check.missing: warn to skip it, which the card then states"
                ) from error
            found.missing[task] = str(error)
        except ValueError as error:
            raise ConfigError(f"leak_check: {error}") from error
        else:
            found.rows[task] = len(rows)
            found.texts.extend((row, text) for row, value in rows for text in _strings(value))
    return found


def _rows(task: str, data_dir: Path | None) -> Iterator[tuple[str, Any]]:
    """(name, text columns) of every row of a task.

    Raises:
        FileNotFoundError: none of its splits is available.
    """
    if task == "pocket":
        for name, columns in POCKET.items():
            yield from _numbered(name.removesuffix(".jsonl"), read_file(pocket.FOLDER / name, columns))
        return
    module = plugin.load("eval.tasks", task)
    if task not in TEXT_COLUMNS:
        yield from ((f"{one.task} {one.id}", _message_texts(one)) for one in module.load(data_dir=data_dir))
        return
    kept = TEXT_COLUMNS[task]
    absent: list[FileNotFoundError] = []
    for split in kept.splits:
        try:
            yield from _numbered(
                f"{task} {split}".strip(), read_source(module.SOURCE, kept.columns, split=split, data_dir=data_dir)
            )
        except FileNotFoundError as error:
            absent.append(error)
    if len(absent) == len(kept.splits):
        raise absent[-1]


def _message_texts(dialogue: Dialogue) -> list[str]:
    """The message texts of a loaded row, without the instruction that our prompt appends to a question."""
    return [text for message in dialogue.messages for text in message.text.split(INSTRUCTION)]


def _numbered(name: str, rows: Iterable[tuple[str, dict[str, Any]]]) -> Iterator[tuple[str, Any]]:
    return ((f"{name} row {number}", row) for number, (_, row) in enumerate(rows))


def _strings(value: Any) -> Iterator[str]:
    """Every string in a JSON value; role names and the like are shorter than 8 words, so they never match."""
    if isinstance(value, str):
        yield CALCULATOR_NOTE.sub("", value)
    elif isinstance(value, dict):
        yield from (text for inner in value.values() for text in _strings(inner))
    elif isinstance(value, list):
        yield from (text for inner in value for text in _strings(inner))
