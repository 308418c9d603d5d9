"""Judges and teachers that pay for requests: how a run starts them, and how a progress display shows their spending."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol, runtime_checkable

from eval.client.budget import Budget
from eval.client.response_cache import ResponseCache
from eval.client.spending import SpendingLog


@runtime_checkable
class Spender(Protocol):
    """A judge or teacher that pays for requests."""

    budget: Budget
    cache: ResponseCache


def start_spending(by: str, asked: object, folder: Path) -> None:
    """Open the cache of `asked` and resume its budget from what the run in `folder` has spent, if it is paid.

    Called by the process that owns the folder, before it starts a long stage.

    Args:
        by: the role of `asked` in the run, such as "judge"; different for each.

    Raises:
        ConfigError: the cache or the record of earlier spending cannot be used.
    """
    if isinstance(asked, Spender):
        asked.budget.resume(SpendingLog(folder, by))
        asked.cache.open()


def spending(**asked: object) -> str:
    """What the run has spent by role, such as "judge $1.25 of $20.00"; empty if nothing is paid."""
    amounts = {by: str(one.budget) for by, one in asked.items() if isinstance(one, Spender)}
    return ", ".join(f"{by} {amount}" for by, amount in amounts.items() if amount)
