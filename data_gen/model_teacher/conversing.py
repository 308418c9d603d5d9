"""Generates many conversations concurrently, each turn by turn. Prompts and reply parsing are handled elsewhere."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine, Generator, Iterable
from contextlib import asynccontextmanager
from typing import Any

from data_gen.model_teacher.turn_prompts import SPEAKERS, TurnPrompts
from data_gen.model_teacher.turn_store import Turn, TurnStore
from data_gen.plan import Plan
from data_gen.teacher import conversation
from eval.client.async_stream import stream
from eval.client.chat_client import ChatClient
from eval.client.whole_reply import complete_whole
from eval.dialogue import Dialogue, Failure, Message

AHEAD = 2
"""Conversations in progress per concurrent request, so that a free request slot never waits for the consumer."""


class Conversing:
    """Runs conversations with a teacher's client, prompts and store."""

    def __init__(self, teacher_id: str, prompts: TurnPrompts, client: ChatClient, store: TurnStore) -> None:
        self._teacher_id, self._prompts, self._client, self._store = teacher_id, prompts, client, store

    def converse(self, plans: Iterable[Plan]) -> Generator[tuple[Plan, Dialogue], None, None]:
        """Each plan with its conversation, as it finishes. Calls must not overlap."""
        return stream(plans, self._worker(), AHEAD * self._client.limit.maximum)

    @asynccontextmanager
    async def _worker(self) -> AsyncIterator[Callable[[Plan], Coroutine[Any, Any, tuple[Plan, Dialogue]]]]:
        async with self._client:
            yield self._converse

    async def _converse(self, plan: Plan) -> tuple[Plan, Dialogue]:
        """Generate turns until the plan ends or a turn fails; the turns before a failure are kept."""
        turns: list[Message] = []
        models: set[str] = set()
        failure = None
        for style, role in ((style, role) for style in plan.styles for role in SPEAKERS):
            turn = await self._turn(plan, turns, style)
            if isinstance(turn, Failure):
                failure = turn
                break
            turns.append(Message(role, turn.text, self._teacher_id, "stop", turn.tokens))
            models.add(turn.model or "unnamed")
        made = {"models": sorted(models)}
        return plan, conversation(plan, turns, self._teacher_id, made=made, failure=failure)

    async def _turn(self, plan: Plan, turns: list[Message], style: str) -> Turn | Failure:
        question = self._prompts.question(plan, turns, style)
        known = self._store.recall(question.key)
        if known:
            return known
        outcome, _ = await complete_whole(self._client, question.body)
        return self._store.keep(question.key, outcome)
