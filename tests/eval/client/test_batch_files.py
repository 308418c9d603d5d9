from __future__ import annotations

import json
from typing import Any

import pytest

from eval.client import batch_files
from eval.client.batch_files import outcomes_of, parts_of, request_lines
from eval.client.chat_reply import Fault, Reply

TEXT = "one\u2028two\x85three\x0bfour"


def result(custom_id: object, text: str) -> str:
    body = {"choices": [{"finish_reason": "stop", "message": {"content": text}}]}
    row = {"custom_id": custom_id, "response": {"status_code": 200, "body": body}}
    return json.dumps(row, ensure_ascii=False)


def test_a_request_is_a_line_whatever_it_holds() -> None:
    content = request_lines([("a", {"text": TEXT + "\n\ud800"}), ("b", {})])
    first, second, rest = content.split(b"\n")
    assert (json.loads(first)["custom_id"], json.loads(second)["body"], rest) == ("a", {}, b"")
    assert json.loads(first)["body"]["text"] == TEXT + "\n\ud800"


def test_only_a_line_feed_ends_a_result() -> None:
    content = "\n".join([result("a", TEXT), result("b", "x"), ""]).encode()
    read = dict(outcomes_of(content))
    assert [reply.text for reply in read.values() if isinstance(reply, Reply)] == [TEXT, "x"]


@pytest.mark.parametrize(
    "line",
    [b"", b"{", b"[]", b"5", b"{}", b"\xff", b"[" * 100_000, result(None, "x").encode(), result(["a"], "x").encode()],
)
def test_a_row_that_cannot_be_read_is_left_out_alone(line: bytes) -> None:
    assert [custom_id for custom_id, _ in outcomes_of(line + b"\n" + result("b", "x").encode())] == ["b"]


@pytest.mark.parametrize(
    ("row", "kind", "transient"),
    [
        ({"response": None, "error": {"code": "batch_expired", "message": "late"}}, "batch_expired", True),
        ({"response": {"status_code": 500, "body": {"error": {"message": "oops"}}}}, "server_error", True),
        ({"response": {"status_code": 400, "body": {"error": {"message": "no"}}}}, "http_400", False),
        ({"response": {"status_code": 401, "body": {}}}, "refused", False),
        ({"response": {"status_code": 200, "body": {}}}, "malformed_response", True),
    ],
)
def test_an_error_is_read_from_either_place(row: dict[str, Any], kind: str, transient: bool) -> None:
    [(_, fault)] = outcomes_of(json.dumps({"custom_id": "a", **row}).encode())
    assert isinstance(fault, Fault) and (fault.kind, fault.transient) == (kind, transient)


def test_a_batch_holds_no_more_than_it_may(monkeypatch: pytest.MonkeyPatch) -> None:
    bodies = {str(number): {"x": "y" * 100} for number in range(7)}
    size = len(request_lines([("0", bodies["0"])]))
    monkeypatch.setattr(batch_files, "REQUESTS", 3)
    assert [len(part) for part in parts_of(bodies)] == [3, 3, 1]
    monkeypatch.setattr(batch_files, "BYTES", 2 * size)
    assert [len(part) for part in parts_of(bodies)] == [2, 2, 2, 1]
    monkeypatch.setattr(batch_files, "BYTES", 1)
    assert [dict(part) for part in parts_of(bodies)] == [{name: body} for name, body in bodies.items()]
