"""Judging with concurrent requests: each result is yielded as it arrives."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Generator, Iterable
from contextlib import asynccontextmanager
from typing import Any

from eval.client.async_stream import stream
from eval.client.chat_client import ChatClient
from eval.client.chat_reply import Fault
from eval.client.whole_reply import complete_whole
from eval.dialogue import Dialogue, Failure, Judgement
from eval.gated_text import is_gated
from eval.judge import unjudgeable
from eval.model_judge.canary import Canary
from eval.model_judge.judge_prompt import JudgePrompt, Question
from eval.model_judge.judgement_store import JudgementStore, free

AHEAD = 2
"""Dialogues read ahead for each concurrent request, so that a free slot never waits for the consumer."""

Result = Judgement | Failure


class OnlineJudge:
    """Asks each distinct question once, even if copies of it are in progress at the same time."""

    def __init__(
        self,
        prompt: JudgePrompt,
        client: ChatClient,
        store: JudgementStore,
        *,
        call_s: float | None = None,
        canary: Canary | None = None,
    ) -> None:
        """Combine the parts; sends nothing.

        Args:
            call_s: seconds for one call of `judge`; what is not judged by then fails with kind "deadline".
            canary: checked before the first question that is not in the cache.
        """
        self._prompt, self._client, self._store, self._call_s = prompt, client, store, call_s
        self._canary = canary
        self._asking: dict[str, asyncio.Task[Result]] = {}
        self._checking: asyncio.Task[None] | None = None

    def judge(self, dialogues: Iterable[Dialogue]) -> Generator[tuple[Dialogue, Result], None, None]:
        """Each dialogue with its result, as each is decided. One call at a time."""
        return stream(dialogues, self._worker(), AHEAD * self._client.limit.maximum)

    @asynccontextmanager
    async def _worker(
        self,
    ) -> AsyncIterator[Callable[[Dialogue], Coroutine[Any, Any, tuple[Dialogue, Result]]]]:
        self._asking.clear()
        self._checking = None
        due = None if self._call_s is None else asyncio.get_running_loop().time() + self._call_s
        async with self._client:
            yield lambda dialogue: self._decide(dialogue, due)

    async def _decide(self, dialogue: Dialogue, due: float | None) -> tuple[Dialogue, Result]:
        problem = unjudgeable(dialogue.messages)
        if problem:
            return dialogue, problem
        question = self._prompt.question(dialogue.messages)
        known = self._store.recall(question.key)
        if known:
            return dialogue, known
        under_way = self._asking.get(question.key)
        if under_way:
            result = await under_way
            return dialogue, free(result) if isinstance(result, Judgement) else result
        task = self._asking[question.key] = asyncio.create_task(self._ask(question, due, is_gated(dialogue)))
        try:
            return dialogue, await task
        finally:
            del self._asking[question.key]

    async def _ask(self, question: Question, due: float | None, gated: bool) -> Result:
        try:
            async with asyncio.timeout_at(due):
                await self._check()
                outcome, dollars = await complete_whole(self._client, question.body, quotable=not gated)
        except TimeoutError:
            outcome, dollars = Fault("deadline", f"the call of judge took more than {self._call_s} s"), None
        result = self._store.keep(question.key, outcome, dollars, gated=gated)
        self._store.stop_if_hopeless()
        return result

    async def _check(self) -> None:
        """Wait for the canary's check, which all questions share; the timeout of one question does not cancel it."""
        if self._canary is None:
            return
        if self._checking is None:
            self._checking = asyncio.create_task(self._canary.check(self._client))
        await asyncio.shield(self._checking)
