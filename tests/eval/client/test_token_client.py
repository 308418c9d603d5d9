"""Completions are asked for at their own path, bounded by their own field. The rest: `test_api_client.py`."""

from __future__ import annotations

import asyncio

import pytest

from eval.client.api_client import Patience
from eval.client.chat_reply import Fault
from eval.client.token_client import TokenClient
from eval.client.token_reply import TokenReply


def client() -> TokenClient:
    return TokenClient("http://127.0.0.1:1/v1", "none", concurrency=1, patience=Patience())


def test_it_reads_ids() -> None:
    read = client().read('{"choices": [{"index": 0, "finish_reason": "stop", "token_ids": [4]}]}')
    assert isinstance(read, TokenReply) and read.choices[0].ids == (4,)
    assert isinstance(client().read("<html>"), Fault)
    assert client().path == "/completions"


def test_a_request_without_a_bound_is_a_defect() -> None:
    with pytest.raises(KeyError, match="max_tokens"):
        asyncio.run(client().complete({"model": "m", "prompt": [1]}))
