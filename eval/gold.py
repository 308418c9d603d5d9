"""User turns with careful labels: the JSONL that judges are measured on, one item a row.

A row has `messages` (a context that ends in an assistant response; `role` and `content` each), `user_turn`, `label` and
`genuine`, and may have `id`, `context`, `task`, `source`, `temperature` and `finish`. Knows no judge.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval.dialogue import Dialogue, Message, content_hash
from eval.labels import check_label


@dataclass(frozen=True)
class GoldItem:
    """A dialogue whose last message is the labelled user turn."""

    dialogue: Dialogue
    label: str
    genuine: bool
    context: str
    """Hash of the messages before the response: items on one query stay on one side of a split."""
    source: str
    """Who wrote the user turn: a model's name, or "written"."""
    temperature: float | None


def read_gold(path: Path) -> list[GoldItem]:
    """Read every row of a gold file; blank lines are skipped.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: a row is malformed (the message names file and line), or there is none.
    """
    if not path.is_file():
        raise FileNotFoundError(f"no gold file {path}; give the path of a JSONL file with labelled user turns")
    items = []
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                items.append(_item(json.loads(line.decode("utf-8"))))
            except (ValueError, TypeError, KeyError) as error:
                reason = f"field {error} is missing" if isinstance(error, KeyError) else str(error)
                raise ValueError(f"{path}, line {number}: {reason}") from error
    if not items:
        raise ValueError(f"{path}: no labelled item in it")
    return items


def _item(row: Any) -> GoldItem:
    if not isinstance(row, dict):
        raise ValueError(f"a row is a JSON object, this is {type(row).__name__}")
    context = tuple(_message(message) for message in row["messages"])
    if not context or context[-1].role != "assistant":
        raise ValueError("`messages` must end in an assistant message, the response that the user turn follows")
    if not isinstance(row["genuine"], bool):
        raise ValueError(f"`genuine` is {row['genuine']!r}, not true or false")
    temperature = row.get("temperature")
    if isinstance(temperature, bool) or not isinstance(temperature, int | float | None):
        raise ValueError(f"`temperature` is {temperature!r}, not a number or null")
    turn = Message("user", row["user_turn"], by=row.get("source") or "data", finish=row.get("finish"))
    return GoldItem(
        dialogue=Dialogue(task=row.get("task") or "unknown", messages=(*context, turn)),
        label=check_label(row["label"]),
        genuine=row["genuine"],
        context=context_hash(context[:-1]),
        source=row.get("source") or "unknown",
        temperature=None if temperature is None else float(temperature),
    )


def _message(message: Mapping[str, Any]) -> Message:
    if not isinstance(message, Mapping):
        raise ValueError(f"a message is an object with role and content, this is {type(message).__name__}")
    return Message(message["role"], message["content"])


def context_hash(context: Sequence[Message]) -> str:
    """Equal for equal roles and texts, whoever wrote them."""
    return content_hash([[message.role, message.text] for message in context])
