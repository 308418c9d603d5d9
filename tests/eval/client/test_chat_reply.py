from __future__ import annotations

import json

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai import APIConnectionError

from eval.client.chat_reply import Fault, Reply, Usage, error_fault, fault_of, reply_of
from eval.config import ConfigError

CHOICE = {"finish_reason": "stop", "message": {"content": "hello"}}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(["choices", "message", "content", "usage", "prompt_tokens", "finish_reason"]), inner
        )
    ),
    max_leaves=8,
)


def test_a_whole_reply_is_read() -> None:
    usage = {"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 4}}
    body = json.dumps({"choices": [CHOICE], "model": "m-1", "usage": usage})
    assert reply_of(body) == Reply("hello", "stop", None, "m-1", Usage(9, 2, 4))


@pytest.mark.parametrize(
    ("usage", "read"),
    [
        (None, None),
        ({}, None),
        ({"prompt_tokens": 9}, None),
        ({"prompt_tokens": -1, "completion_tokens": 2}, None),
        ({"prompt_tokens": "9", "completion_tokens": 2}, None),
        ({"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": None}, Usage(9, 2)),
        (
            {"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": None}},
            Usage(9, 2),
        ),
        (
            {"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 99}},
            Usage(9, 2, 9),
        ),
    ],
)
def test_usage_that_does_not_add_up_is_unknown(usage: object, read: Usage | None) -> None:
    reply = reply_of(json.dumps({"choices": [CHOICE], "usage": usage}))
    assert isinstance(reply, Reply) and reply.usage == read


@given(JSON)
def test_no_body_raises(value: object) -> None:
    outcome = reply_of(json.dumps(value))
    assert isinstance(outcome, Reply) or (outcome.kind, outcome.transient) == ("malformed_response", True)


@pytest.mark.parametrize(
    ("status", "error", "kind", "transient"),
    [
        (429, {"code": "rate_limit_exceeded"}, "rate_limited", True),
        (429, {"code": None, "message": "You exceeded your current quota: insufficient_quota"}, "rate_limited", True),
        (429, {}, "rate_limited", True),
        (500, {}, "server_error", True),
        (503, {"code": "overloaded"}, "server_error", True),
        (400, {"code": "context_length_exceeded"}, "context_too_long", False),
        (400, {"code": None}, "http_400", False),
        (403, {}, "http_403", False),
        (408, {}, "http_408", False),
        (422, {}, "http_422", False),
    ],
)
def test_a_refusal_of_one_request(status: int, error: dict[str, object], kind: str, transient: bool) -> None:
    fault = error_fault(status, error)
    assert isinstance(fault, Fault) and (fault.kind, fault.transient, fault.billable) == (kind, transient, False)


@pytest.mark.parametrize(
    ("status", "code", "remedy"),
    [
        (429, "insufficient_quota", "add credit"),
        (400, "billing_hard_limit_reached", "add credit"),
        (401, "invalid_api_key", "check the variable"),
        (404, "model_not_found", "check `model`"),
        (400, "unsupported_parameter", "check"),
        (400, "unsupported_value", "check"),
    ],
)
def test_a_refusal_that_all_requests_would_get_stops_the_run(status: int, code: str, remedy: str) -> None:
    with pytest.raises(ConfigError, match=remedy):
        error_fault(status, {"code": code, "message": "no"})


def test_a_rejected_key_is_not_repeated() -> None:
    with pytest.raises(ConfigError) as problem:
        error_fault(401, {"code": "invalid_api_key", "message": "Incorrect API key provided: sk-secret"})
    assert "sk-secret" not in str(problem.value)


@pytest.mark.parametrize(
    ("cause", "billable"),
    [
        (httpx2.ConnectError("refused"), False),
        (httpx2.ConnectTimeout("no answer"), False),
        (httpx2.ReadError("reset"), True),
        (httpx2.ReadTimeout("no reply"), True),
        (httpx2.RemoteProtocolError("no HTTP"), True),
        (None, True),
    ],
)
def test_only_a_connection_that_was_made_may_have_cost_something(cause: Exception | None, billable: bool) -> None:
    error = APIConnectionError(request=httpx2.Request("POST", "http://host/v1"))
    error.__cause__ = cause
    fault = fault_of(error)
    assert (fault.kind, fault.transient, fault.billable) == ("connection", True, billable)
