from __future__ import annotations

import asyncio
import runpy
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from eval.client.api_client import Patience
from eval.client.budget import Budget, Price
from eval.client.chat_client import ChatClient
from eval.client.chat_reply import Fault, Reply, Usage
from eval.client.whole_reply import LARGER, complete_whole, cost_bound

JudgeServer = runpy.run_path(str(Path(__file__).with_name("judge_server.py")))["JudgeServer"]
BODY = {"model": "m", "messages": [{"role": "user", "content": "hello"}], "max_completion_tokens": 50}
PRICE = Price(input=2.0, cached_input=0.5, output=10.0, up_to_input_tokens=100_000, date="2026-01-01")
REPLY_COST = PRICE.of(Usage(900, 20, 400))


def ask(schedule: Iterable[str], budget: Budget) -> tuple[Reply | Fault, float | None, list[dict[str, Any]]]:
    async def run(url: str) -> tuple[Reply | Fault, float | None]:
        async with ChatClient(url, "k", concurrency=1, patience=Patience(backoff_s=0.001), budget=budget) as client:
            return await complete_whole(client, BODY)

    with JudgeServer(schedule) as server:
        return *asyncio.run(run(server.url)), server.requests


@pytest.mark.parametrize(
    ("schedule", "limits", "finish"),
    [
        ([], [50], "stop"),
        (["length_empty"], [50, 50 * LARGER], "stop"),
        (["length", "500"], [50, 50 * LARGER, 50 * LARGER], "stop"),
        (["length", "length"], [50, 50 * LARGER], "length"),
        (["refusal"], [50], "stop"),
    ],
)
def test_a_reply_that_was_cut_off_is_asked_for_once_more(schedule: list[str], limits: list[int], finish: str) -> None:
    outcome, dollars, requests = ask(schedule, Budget(PRICE))
    assert [request["max_completion_tokens"] for request in requests] == limits
    assert isinstance(outcome, Reply) and outcome.finish == finish
    assert dollars == pytest.approx(REPLY_COST * (1 + schedule.count("length_empty") + ("length" in schedule)))


def test_without_a_price_there_is_no_cost_and_no_bound() -> None:
    assert ask(["length"], Budget())[1] is None and cost_bound(Budget(), BODY) is None


def test_the_bound_is_that_of_both_requests() -> None:
    budget = Budget(PRICE)
    larger = {**BODY, "max_completion_tokens": 50 * LARGER}
    assert cost_bound(budget, BODY) == budget.bound(BODY, 50) + budget.bound(larger, 50 * LARGER)
