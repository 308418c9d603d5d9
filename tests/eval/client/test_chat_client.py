"""Chat completions are asked for at their own path, bounded by their own field. The rest: `test_api_client.py`."""

from __future__ import annotations

import asyncio
import runpy
from pathlib import Path

import pytest

from eval.client.api_client import Patience
from eval.client.budget import Budget, Price
from eval.client.chat_client import ChatClient
from eval.client.chat_reply import Reply

JudgeServer = runpy.run_path(str(Path(__file__).with_name("judge_server.py")))["JudgeServer"]


def test_a_chat_completion_is_asked_for_and_its_bound_held() -> None:
    async def ask(url: str, budget: Budget) -> object:
        async with ChatClient(url, "none", concurrency=1, patience=Patience(), budget=budget) as client:
            body = {"model": "m", "messages": [], "max_completion_tokens": 1000}
            return (await client.complete(body))[0]

    price = Price(input=0.0, cached_input=0.0, output=1000.0, up_to_input_tokens=1000, date="2026-01-01")
    with JudgeServer() as server:
        outcome = asyncio.run(ask(server.url, Budget(price, limit=1.0)))
        refused = asyncio.run(ask(server.url, Budget(price, limit=0.99)))
    assert isinstance(outcome, Reply) and outcome.finish == "stop"
    assert len(server.requests) == 1 and getattr(refused, "kind", None) == "budget"


def test_a_request_without_a_bound_is_a_defect() -> None:
    client = ChatClient("http://127.0.0.1:1/v1", "none", concurrency=1, patience=Patience())
    with pytest.raises(KeyError, match="max_completion_tokens"):
        asyncio.run(client.complete({"model": "m", "messages": []}))
