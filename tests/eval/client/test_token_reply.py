"""Ids are read from either place where servers put them, and whatever else a body holds is a fault that may pass."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.client.chat_reply import Fault, Usage
from eval.client.token_reply import NO_IDS, TokenChoice, TokenReply, token_reply_of

MARKED = {"tokens": ["token_id:5", "token_id:7"], "token_logprobs": [-0.5, -1]}


def choice(index: int = 0, **fields: object) -> dict[str, object]:
    return {"index": index, "text": "x", "finish_reason": "stop", "logprobs": None, **fields}


def read(*choices: object, **fields: object) -> TokenReply | Fault:
    return token_reply_of(json.dumps({"choices": choices, **fields}))


def test_ids_come_from_the_choice_or_from_its_log_probs() -> None:
    plain, probed = TokenChoice((5, 7), "stop", None), TokenChoice((5, 7), "stop", (-0.5, -1.0))
    assert read(choice(token_ids=[5, 7])) == TokenReply((plain,), None, None)
    assert read(choice(logprobs=MARKED)) == TokenReply((probed,), None, None)
    assert read(choice(token_ids=[5, 7], logprobs=MARKED)) == TokenReply((probed,), None, None)


def test_several_choices_come_in_their_order_with_prompt_and_usage() -> None:
    usage = {"prompt_tokens": 3, "completion_tokens": 4}
    later, first = choice(1, token_ids=[9]), choice(token_ids=[5], prompt_token_ids=[1, 2, 3])
    reply = read(later, first, usage=usage)
    assert isinstance(reply, TokenReply)
    assert [made.ids for made in reply.choices] == [(5,), (9,)]
    assert (reply.prompt_ids, reply.usage) == ((1, 2, 3), Usage(3, 4))


@pytest.mark.parametrize(
    "choices",
    [
        [],
        [choice(logprobs={"tokens": ["token_id:x"], "token_logprobs": [-1.0]})],
        [choice(token_ids=[5], logprobs=MARKED)],
        [choice(token_ids=["5"])],
        [choice(token_ids=[True])],
        [choice(token_ids=[-1])],
        [choice(token_ids=[5], finish_reason=None)],
        [choice(1, token_ids=[5])],
        [choice(token_ids=[5]), choice(token_ids=[5])],
        [None],
    ],
)
def test_what_has_no_ids_is_a_fault_that_may_pass(choices: list[object]) -> None:
    fault = read(*choices)
    assert isinstance(fault, Fault) and fault.kind == "malformed_response" and fault.transient


@pytest.mark.parametrize("fields", [{}, {"logprobs": {"tokens": ["Hello"], "token_logprobs": [-1.0]}}])
def test_a_server_that_returns_no_ids_is_not_asked_again(fields: dict[str, object]) -> None:
    fault = read(choice(**fields))
    assert isinstance(fault, Fault) and fault.kind == NO_IDS and not fault.transient


def test_what_a_model_said_is_not_quoted_and_what_a_server_says_is() -> None:
    """It may be about a gated question, and the fault of a run's last request is told to everyone."""
    for body in (json.dumps({"choices": [choice(text="secret", finish_reason=5)]}), '{"choices": [{"text": "secret'):
        fault = token_reply_of(body)
        assert isinstance(fault, Fault) and "secret" not in fault.detail
    fault = token_reply_of('{"error": "overloaded"}')
    assert isinstance(fault, Fault) and "overloaded" in fault.detail


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(body=st.text() | JSON.map(json.dumps) | JSON.map(lambda value: json.dumps({"choices": [value]})))
def test_no_body_raises(body: str) -> None:
    assert isinstance(token_reply_of(body), Fault)
