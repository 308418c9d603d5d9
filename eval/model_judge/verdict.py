"""The form in which a judge must answer, and the strict reading of what it did answer.

What can't be read is a `Failure` with a kind to count, never a label and never a score.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from eval.client.chat_reply import Reply
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
    """The verdict of a reply that its model finished; how the reply ended is looked at before its text."""
    if reply.finish == "length":
        return Failure("judge", "truncated", "the reply was cut off at max_completion_tokens")
    if reply.finish == "content_filter":
        return Failure("judge", "content_filter", "the server's filter withheld the reply")
    if reply.refusal:
        return Failure("judge", "refusal", reply.refusal[:500])
    if reply.finish != "stop":
        return Failure("judge", "unfinished", f"finish_reason is {reply.finish!r}")
    if not (reply.text or "").strip():
        return Failure("judge", "empty", "the reply has no text")
    return parse(reply.text or "")


def parse(text: str) -> Verdict | Failure:
    """Read exactly one JSON object with exactly the fields of `SCHEMA`, each once and of its type."""
    try:
        fields = json.loads(text, object_pairs_hook=_each_once)
    except _Repeated as repeated:
        return Failure("judge", "duplicate_field", f"{repeated} more than once in {text[:200]!r}")
    except (ValueError, RecursionError):
        return Failure("judge", "not_json", text[:200])
    if not isinstance(fields, dict) or fields.keys() != SCHEMA["properties"].keys():
        return Failure("judge", "wrong_fields", text[:200])
    label, genuine = fields["label"], fields["genuine"]
    if not isinstance(genuine, bool):
        return Failure("judge", "wrong_type", f"genuine is {genuine!r}")
    if not isinstance(label, str):
        return Failure("judge", "wrong_type", f"label is {label!r}")
    if label not in LABELS:
        return Failure("judge", "unknown_label", label[:200])
    return Verdict(label, genuine)


class _Repeated(ValueError):
    """A JSON object has a field twice; which one was meant is unknown."""


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise _Repeated(next(name for name, _ in pairs if [other for other, _ in pairs].count(name) > 1))
    return fields
