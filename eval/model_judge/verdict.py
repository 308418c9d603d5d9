"""The JSON schema of a judge's reply, and its strict parser.

Anything else is a `Failure`, counted by its kind, never a label and never a score.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from eval.client.chat_reply import Fault, Reply
from eval.client.reply_object import object_of, parse_object
from eval.dialogue import Failure
from eval.labels import LABELS

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "label": {"type": "string", "enum": list(LABELS)},
        "genuine": {"type": "boolean"},
    },
    "required": ["label", "genuine"],
    "additionalProperties": False,
}
RESPONSE_FORMAT: dict[str, Any] = {
    "type": "json_schema",
    "json_schema": {"name": "verdict", "strict": True, "schema": SCHEMA},
}


@dataclass(frozen=True)
class Verdict:
    """The two decisions of a reply."""

    label: str
    genuine: bool


def read(reply: Reply) -> Verdict | Failure:
    """The verdict of a finished reply; its finish reason is checked before its text."""
    return _verdict(object_of(reply, SCHEMA["properties"]))


def parse(text: str) -> Verdict | Failure:
    """Parse exactly one JSON object with exactly the fields of `SCHEMA`, each once and of its type."""
    return _verdict(parse_object(text, SCHEMA["properties"]))


def _verdict(fields: dict[str, Any] | Fault) -> Verdict | Failure:
    if isinstance(fields, Fault):
        return Failure("judge", fields.kind, fields.detail)
    label, genuine = fields["label"], fields["genuine"]
    if not isinstance(genuine, bool):
        return Failure("judge", "wrong_type", f"genuine is {genuine!r}")
    if not isinstance(label, str):
        return Failure("judge", "wrong_type", f"label is {label!r}")
    if label not in LABELS:
        return Failure("judge", "unknown_label", label[:200])
    return Verdict(label, genuine)
