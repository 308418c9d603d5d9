"""Labelled user turns that judges are measured on: a JSONL file with one item per row.

A row has `messages` (a context that ends in an assistant response; `role` and `content` each), `user_turn`, `label` and
`genuine`, and may have `id`, `context`, `task`, `source`, `temperature`, `finish`, `weight`, and `judgements`: the
decisions of judges on it, `{judge id: {"label": ..., "genuine": ...}}`. Knows no judge.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from eval.dialogue import Dialogue, Judgement, Message, content_hash
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
    weight: float = 1.0
    """Number of user turns that it represents; varies if the sample is not uniform."""
    judgements: Mapping[str, Judgement] = field(default_factory=dict)
    """Decisions of judges on it, by their id."""


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
            except (ValueError, TypeError, KeyError, AttributeError) as error:
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
    weight = row.get("weight", 1.0)
    if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 < weight < math.inf:
        raise ValueError(f"`weight` is {weight!r}, not a positive number")
    turn = Message("user", row["user_turn"], by=row.get("source") or "data", finish=row.get("finish"))
    return GoldItem(
        dialogue=Dialogue(task=row.get("task") or "unknown", messages=(*context, turn)),
        label=check_label(row["label"]),
        genuine=row["genuine"],
        context=context_hash(context[:-1]),
        source=row.get("source") or "unknown",
        temperature=None if temperature is None else float(temperature),
        weight=float(weight),
        judgements={judge: _judgement(judge, said) for judge, said in row.get("judgements", {}).items()},
    )


def _judgement(judge: str, said: Mapping[str, Any]) -> Judgement:
    if not isinstance(said["genuine"], bool):
        raise ValueError(f"`genuine` of {judge!r} is {said['genuine']!r}, not true or false")
    return Judgement(check_label(said["label"]), said["genuine"], judge)


def _message(message: Mapping[str, Any]) -> Message:
    if not isinstance(message, Mapping):
        raise ValueError(f"a message is an object with role and content, this is {type(message).__name__}")
    return Message(message["role"], message["content"])


def context_hash(context: Sequence[Message]) -> str:
    """Equal for equal roles and texts, whoever wrote them."""
    return content_hash([[message.role, message.text] for message in context])
