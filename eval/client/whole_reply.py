"""Repeats a request with a higher token limit if its reply was truncated. Knows nothing about its content."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from eval.client.budget import Budget
from eval.client.chat_client import ChatClient
from eval.client.chat_reply import Fault, Reply

LARGER = 4
"""A truncated reply is requested once more with this many times the tokens: reasoning may have used them up."""


async def complete_whole(
    client: ChatClient, body: Mapping[str, Any], *, quotable: bool = True
) -> tuple[Reply | Fault, float | None]:
    """Outcome and cost in US dollars of a request, as from `ChatClient.complete`; both requests are paid for."""
    outcome, dollars = await client.complete(body, quotable=quotable)
    if isinstance(outcome, Reply) and outcome.finish == "length":
        outcome, more = await client.complete(_larger(body), quotable=quotable)
        dollars = None if dollars is None or more is None else dollars + more
    return outcome, dollars


def cost_bound(budget: Budget, body: Mapping[str, Any]) -> float | None:
    """Upper bound in US dollars of a request and its repetition, not counting retries; None without a price."""
    if budget.price is None:
        return None
    return sum(budget.bound(asked, asked["max_completion_tokens"]) for asked in (body, _larger(body)))


def _larger(body: Mapping[str, Any]) -> dict[str, Any]:
    return {**body, "max_completion_tokens": LARGER * body["max_completion_tokens"]}
