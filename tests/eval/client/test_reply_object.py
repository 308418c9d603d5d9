from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.client.chat_reply import Fault, Reply
from eval.client.reply_object import object_of, parse_object

GOOD = '{"a": 1, "b": null}'


def reply(text: str | None = GOOD, finish: str | None = "stop", refusal: str | None = None) -> Reply:
    return Reply(text, finish, refusal, "m-1", None)


def test_a_finished_reply_gives_its_fields() -> None:
    assert object_of(reply(), ["b", "a"]) == {"a": 1, "b": None}


@pytest.mark.parametrize(
    ("given_reply", "kind"),
    [
        (reply(finish="length"), "truncated"),
        (reply(None, "length"), "truncated"),
        (reply(finish="content_filter"), "content_filter"),
        (reply(refusal="no"), "refusal"),
        (reply(finish="tool_calls"), "unfinished"),
        (reply(finish=None), "unfinished"),
        (reply(None), "empty"),
        (reply(" \n"), "empty"),
        (reply("prose"), "not_json"),
    ],
)
def test_how_a_reply_ended_is_looked_at_before_its_text(given_reply: Reply, kind: str) -> None:
    fault = object_of(given_reply, ["a", "b"])
    assert isinstance(fault, Fault) and fault.kind == kind


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (GOOD[:-1], "not_json"),
        (GOOD * 2, "not_json"),
        (f"```json\n{GOOD}\n```", "not_json"),
        ("[" * 100_000, "not_json"),
        (f"[{GOOD}]", "wrong_fields"),
        ("5", "wrong_fields"),
        ('{"a": 1}', "wrong_fields"),
        ('{"a": 1, "b": 2, "c": 3}', "wrong_fields"),
        ('{"a": 1, "b": 2, "b": 2}', "duplicate_field"),
        ('{"a": {"x": 1, "x": 2}, "b": 2}', "duplicate_field"),
    ],
)
def test_anything_but_one_object_with_these_fields_is_a_fault(text: str, kind: str) -> None:
    fault = parse_object(text, ["a", "b"])
    assert isinstance(fault, Fault) and fault.kind == kind and len(fault.detail) < 300


@given(st.text() | st.dictionaries(st.sampled_from("abc"), st.integers()).map(json.dumps))
def test_no_text_raises_and_no_object_is_read_as_more_than_it_says(text: str) -> None:
    fields = parse_object(text, ["a", "b"])
    assert isinstance(fields, Fault) or (fields.keys() == {"a", "b"} and json.loads(text) == fields)
