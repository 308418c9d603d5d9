"""The JSONL files of the Batch API: writes the requests, reads the results. Sends nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from eval.client.chat_reply import Fault, Reply, error_fault, reply_of
from eval.config import ConfigError

ENDPOINT: Literal["/v1/chat/completions"] = "/v1/chat/completions"
REQUESTS, BYTES = 50_000, 180_000_000
"""Largest number of requests and of bytes in a batch, slightly below the API's limits."""


def request_lines(part: Sequence[tuple[str, Any]]) -> bytes:
    """The content of a file with these requests, given as (id, body)."""
    return "".join(_line(custom_id, body) for custom_id, body in part).encode()


def _line(custom_id: str, body: Mapping[str, Any]) -> str:
    request = {"custom_id": custom_id, "method": "POST", "url": ENDPOINT, "body": body}
    return json.dumps(request) + "\n"


def parts_of(bodies: Mapping[str, Any]) -> Iterator[list[tuple[str, Any]]]:
    """The requests in lists that each fit into one batch."""
    part: list[tuple[str, Any]] = []
    size = 0
    for custom_id, body in bodies.items():
        length = len(_line(custom_id, body))
        if part and (len(part) == REQUESTS or size + length > BYTES):
            yield part
            part, size = [], 0
        part.append((custom_id, body))
        size += length
    if part:
        yield part


def outcomes_of(content: bytes) -> Iterator[tuple[str, Reply | Fault]]:
    """Id and outcome of each readable row of a result file."""
    for line in content.split(b"\n"):  # not splitlines: JSON may contain other line separators of Unicode
        row = _outcome(line)
        if row is not None:
            yield row


def _outcome(line: bytes) -> tuple[str, Reply | Fault] | None:
    """Id and outcome of a result row, None if it cannot be read. An error is in the row or in the response's body."""
    try:
        row = json.loads(line)
        custom_id, response = row["custom_id"], row.get("response") or {}
        if not isinstance(custom_id, str):
            return None
        if response.get("status_code") == 200:
            return custom_id, reply_of(response["body"])
        error = row.get("error") or (response.get("body") or {}).get("error") or {}
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
        return None
    if "status_code" not in response:
        return custom_id, Fault(str(error.get("code") or "batch_error"), str(error.get("message")), transient=True)
    try:
        return custom_id, error_fault(response["status_code"], error)
    except ConfigError as problem:  # the rest of the batch has ended too and is still read
        return custom_id, Fault("refused", str(problem))
