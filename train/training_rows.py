"""Reads the dialogues of a training run from a JSONL file, and refuses rows that models are evaluated on.

Knows no chat format and no trainer. A line is a dialogue as `Dialogue.to_json` writes it; with an additional `key`, as
in a probe's files, a later line replaces an earlier one with the same key.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval.config import ConfigError
from eval.dialogue import Dialogue
from eval.held_out import is_for_training

A_LINE = (
    'a line is {"task": "...", "messages": [{"role": "user", "text": "..."}, ...]}, '
    "as `python -m data_gen.run` writes it"
)


@dataclass(frozen=True)
class TrainingRow:
    """A dialogue and its location, for error messages."""

    dialogue: Dialogue
    place: str
    """For example "data/x.jsonl line 7"."""


@dataclass(frozen=True)
class RowFile:
    """The rows of one file."""

    path: Path
    sha256: str
    rows: list[TrainingRow]


def read_training_rows(path: Path) -> RowFile:
    """Every row of `path`.

    Raises:
        ConfigError: the file is missing or empty, a line is not a dialogue, or a row belongs to an evaluation.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ConfigError(
            f"no training data {path} ({error.strerror}); make it with `python -m data_gen.run`, see configs/data_gen/"
        ) from error
    rows: dict[str, TrainingRow] = {}
    for number, line in enumerate(content.split(b"\n"), start=1):
        if line.strip():
            key, row = _read(line, f"{path} line {number}")
            rows[key or row.place] = row
    if not rows:
        raise ConfigError(f"{path} has no rows")
    return RowFile(path, hashlib.sha256(content).hexdigest(), list(rows.values()))


def _read(line: bytes, place: str) -> tuple[str | None, TrainingRow]:
    try:
        fields = json.loads(line)
        _check_shape(fields)
        key = fields.pop("key", None)
        dialogue = Dialogue.from_json(fields)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigError(f"{place} is not a dialogue: {error}; {A_LINE}") from error
    if not is_for_training(dialogue):
        split = dialogue.meta.get("split")
        raise ConfigError(
            f"{place} (id {dialogue.id}) is a row of {dialogue.task}{f' {split}' if split else ''}, which models are "
            "evaluated on; a model that was trained on it cannot be evaluated with it; remove the row"
        )
    return key, TrainingRow(dialogue, place)


def _check_shape(fields: Any) -> None:
    """Give a readable error for what is not shaped like a dialogue, such as messages of `role` and `content`."""
    if not isinstance(fields, dict):
        raise ValueError("it is not a JSON object")
    if absent := [name for name in ("task", "messages") if name not in fields]:
        raise ValueError(f"it has no {' and no '.join(absent)}")
    if not isinstance(fields["messages"], list):
        raise ValueError("its messages are not a list")
    for number, message in enumerate(fields["messages"], start=1):
        if not isinstance(message, dict):
            raise ValueError(f"its message {number} is not a JSON object")
        if absent := [name for name in ("role", "text") if name not in message]:
            raise ValueError(
                f"its message {number} has no {' and no '.join(absent)}, but {', '.join(message) or 'nothing'}"
            )
