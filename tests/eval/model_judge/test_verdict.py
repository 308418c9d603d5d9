from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.client.chat_reply import Reply
from eval.dialogue import Failure
from eval.labels import LABELS
from eval.model_judge.verdict import RESPONSE_FORMAT, SCHEMA, Verdict, parse, read

GOOD = '{"label": "other", "genuine": false}'
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from([*LABELS, "", "x"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["label", "genuine", "x"]), inner),
    max_leaves=6,
)


def reply(text: str | None = GOOD, finish: str | None = "stop", refusal: str | None = None) -> Reply:
    return Reply(text, finish, refusal, "judge-1", None)


def test_the_schema_is_strict_and_holds_each_label_once() -> None:
    assert RESPONSE_FORMAT["json_schema"]["strict"] is True and SCHEMA["additionalProperties"] is False
    assert SCHEMA["properties"]["label"]["enum"] == list(LABELS)
    assert set(SCHEMA["required"]) == set(SCHEMA["properties"])


@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize("genuine", [True, False])
def test_a_proper_reply_is_read(label: str, genuine: bool) -> None:
    assert read(reply(json.dumps({"genuine": genuine, "label": label}))) == Verdict(label, genuine)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ('{"label": "other", "genuine": false, "genuine": true}', "duplicate_field"),
        ('{"label": "other", "label": "other", "genuine": true}', "duplicate_field"),
        ('{"label": "other", "genuine": false', "not_json"),
        (GOOD + GOOD, "not_json"),
        (f"```json\n{GOOD}\n```", "not_json"),
        ("[" * 100_000, "not_json"),
        ("genuine_followup", "not_json"),
        (f"[{GOOD}]", "wrong_fields"),
        ("null", "wrong_fields"),
        ('{"label": "other"}', "wrong_fields"),
        ('{"label": "other", "genuine": true, "score": 5}', "wrong_fields"),
        ('{"Label": "other", "genuine": true}', "wrong_fields"),
        ('{"label": "other", "genuine": "true"}', "wrong_type"),
        ('{"label": "other", "genuine": 1}', "wrong_type"),
        ('{"label": "other", "genuine": null}', "wrong_type"),
        ('{"label": ["other"], "genuine": true}', "wrong_type"),
        ('{"label": "Other", "genuine": true}', "unknown_label"),
        ('{"label": "", "genuine": true}', "unknown_label"),
        ('{"label": "genuine_followup ", "genuine": true}', "unknown_label"),
    ],
)
def test_anything_else_is_a_failure_of_its_kind(text: str, kind: str) -> None:
    result = parse(text)
    assert isinstance(result, Failure) and (result.stage, result.kind) == ("judge", kind)


@pytest.mark.parametrize(
    ("given_reply", "kind"),
    [
        (reply(finish="length"), "truncated"),
        (reply('{"score": 4, "why": "the user si', "length"), "truncated"),
        (reply(None, "length"), "truncated"),
        (reply(finish="content_filter"), "content_filter"),
        (reply(refusal="I can't"), "refusal"),
        (reply(finish="tool_calls"), "unfinished"),
        (reply(finish=None), "unfinished"),
        (reply(None), "empty"),
        (reply(" \n"), "empty"),
    ],
)
def test_how_a_reply_ended_is_looked_at_before_its_text(given_reply: Reply, kind: str) -> None:
    result = read(given_reply)
    assert isinstance(result, Failure) and result.kind == kind


@given(JSON)
def test_no_json_is_read_as_more_than_it_says(value: object) -> None:
    result = parse(json.dumps(value))
    if isinstance(result, Verdict):
        assert value == {"label": result.label, "genuine": result.genuine} and isinstance(value["genuine"], bool)


@given(st.text())
def test_no_text_raises(text: str) -> None:
    assert isinstance(parse(text), Verdict | Failure)
