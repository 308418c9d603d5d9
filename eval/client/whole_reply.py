"""Asking once more, with more room, for a reply that was cut off. Knows nothing of what is asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from eval.client.budget import Budget
from eval.client.chat_client import ChatClient
from eval.client.chat_reply import Fault, Reply

LARGER = 4
"""A reply that was cut off is asked for once more with this many times the tokens: reasoning may have used them up."""


async def complete_whole(
    client: ChatClient, body: Mapping[str, Any], *, quotable: bool = True
) -> tuple[Reply | Fault, float | None]:
    """What came of a request and its cost in US dollars, as from `ChatClient.complete`; both requests are paid."""
    outcome, dollars = await client.complete(body, quotable=quotable)
    if isinstance(outcome, Reply) and outcome.finish == "length":
        outcome, more = await client.complete(_larger(body), quotable=quotable)
        dollars = None if dollars is None or more is None else dollars + more
    return outcome, dollars


def cost_bound(budget: Budget, body: Mapping[str, Any]) -> float | None:
    """US dollars that a request costs at most, asked once and again with more room, faults aside; None: no price."""
    if budget.price is None:
        return None
    return sum(budget.bound(asked, asked["max_completion_tokens"]) for asked in (body, _larger(body)))


def _larger(body: Mapping[str, Any]) -> dict[str, Any]:
    return {**body, "max_completion_tokens": LARGER * body["max_completion_tokens"]}
