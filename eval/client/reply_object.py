"""Parses the JSON object of a reply with JSON-schema output, strictly.

Servers differ in how well they enforce a schema, so none is trusted. Anything else is a `Fault`, counted by its kind.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

from eval.client.chat_reply import Fault, Reply


def object_of(reply: Reply, names: Collection[str]) -> dict[str, Any] | Fault:
    """The fields of a finished reply; its finish reason is checked before its text."""
    if reply.finish == "length":
        return Fault("truncated", "the reply was cut off at max_completion_tokens")
    if reply.finish == "content_filter":
        return Fault("content_filter", "the server's filter withheld the reply")
    if reply.refusal:
        return Fault("refusal", reply.refusal[:500])
    if reply.finish != "stop":
        return Fault("unfinished", f"finish_reason is {reply.finish!r}")
    if not (reply.text or "").strip():
        return Fault("empty", "the reply has no text")
    return parse_object(reply.text or "", names)


def parse_object(text: str, names: Collection[str]) -> dict[str, Any] | Fault:
    """Exactly one JSON object with exactly the fields `names`, each once; their values may be anything."""
    try:
        fields = json.loads(text, object_pairs_hook=_each_once)
    except _Repeated as repeated:
        return Fault("duplicate_field", f"{repeated} more than once in {text[:200]!r}")
    except (ValueError, RecursionError):
        return Fault("not_json", text[:200])
    if not isinstance(fields, dict) or fields.keys() != set(names):
        return Fault("wrong_fields", text[:200])
    return fields


class _Repeated(ValueError):
    """A JSON object has a field twice; which one was meant is unknown."""


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise _Repeated(next(name for name, _ in pairs if [other for other, _ in pairs].count(name) > 1))
    return fields
