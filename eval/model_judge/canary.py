"""Detects that a judge's model has changed: it judges fixed items again, and the verdicts are compared.

A model can change while its id stays the same. Its new verdicts would be mixed with old ones as if one judge had given
them. The first verdict on each item stays in the judge's cache for good; the current one is compared with it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from eval.client.async_stream import stream
from eval.client.chat_client import ChatClient
from eval.client.chat_reply import Fault
from eval.client.response_cache import ResponseCache
from eval.client.whole_reply import complete_whole
from eval.config import ConfigError
from eval.dialogue import Failure, Message
from eval.model_judge.judge_prompt import JudgePrompt, Question
from eval.model_judge.verdict import Verdict, read

logger = logging.getLogger(__name__)

GENUINE_BOUND, LABEL_BOUND = 1 / 8, 1 / 3
"""Largest share of items whose `genuine` may change, and whose verdict may: a judge that samples varies a little."""


@dataclass(frozen=True)
class Change:
    """An item that is decided differently than at first."""

    item: str
    first: Verdict
    now: Verdict

    @property
    def binary(self) -> bool:
        """Whether `genuine` has changed."""
        return self.first.genuine != self.now.genuine

    def __str__(self) -> str:
        return f"{self.item} ({_told(self.first)}, now {_told(self.now)})"


class Canary:
    """The canary items of one judge: `check` judges them all once and compares; later calls do nothing."""

    def __init__(self, path: Path, prompt: JudgePrompt, kept: ResponseCache) -> None:
        """Read the items.

        Args:
            path: YAML of `name: {query, response, user_turn}`.
            kept: holds the first verdicts; must outlive the process, or there is nothing to compare with.
        """
        items = yaml.safe_load(path.read_text(encoding="utf-8"))
        self._questions = {name: prompt.question(_messages(**item)) for name, item in items.items()}
        self._judge_id, self._kept = prompt.judge_id, kept
        self.passed = False
        """Whether the check was made and the judge passed it."""
        self._refusal: ConfigError | None = None
        self.measured: dict[str, int] = {}
        """Items "asked", "failed" (no verdict now) and "changed"; empty before the check."""

    async def check(self, client: ChatClient) -> None:
        """Judge every item and compare its verdict with the first one, which is stored if there is none yet.

        Raises:
            ConfigError: more verdicts have changed than chance explains, or no request of the run can succeed.
        """
        if self.passed:
            return
        if self._refusal:
            raise self._refusal
        verdicts = await asyncio.gather(*(_ask(client, question) for question in self._questions.values()))
        found = dict(zip(self._questions, verdicts, strict=True))
        known = {name: verdict for name, verdict in found.items() if isinstance(verdict, Verdict)}
        changes = [change for name, verdict in known.items() if (change := self._change(name, verdict))]
        self.measured = {"asked": len(found), "failed": len(found) - len(known), "changed": len(changes)}
        self._refusal = self._refusal_of(changes, len(known))
        if self._refusal:
            raise self._refusal
        self.passed = True
        if len(known) < len(found):
            kinds = sorted({verdict.kind for verdict in verdicts if isinstance(verdict, Failure)})
            logger.warning(
                "canary: %d of %d items got no verdict (%s)", len(found) - len(known), len(found), ", ".join(kinds)
            )
        if changes:
            logger.warning("canary: %s decides otherwise than at first: %s", self._judge_id, _listed(changes))

    def check_now(self, client: ChatClient) -> None:
        """`check` for a caller without an event loop."""

        @asynccontextmanager
        async def worker() -> AsyncIterator[Callable[[None], Coroutine[Any, Any, None]]]:
            async with client:
                yield lambda _: self.check(client)

        list(stream([None], worker(), 1))

    def _change(self, name: str, now: Verdict) -> Change | None:
        key = f"canary/{self._questions[name].key}"
        self._kept.put(key, {"label": now.label, "genuine": now.genuine})  # the first for a key stays
        first = self._kept.get(key)
        assert first is not None, key
        return None if Verdict(**first) == now else Change(name, Verdict(**first), now)

    def _refusal_of(self, changes: list[Change], compared: int) -> ConfigError | None:
        """The error if too many verdicts have changed, else None."""
        binaries = sum(change.binary for change in changes)
        if binaries <= GENUINE_BOUND * compared and len(changes) <= LABEL_BOUND * compared:
            return None
        return ConfigError(
            f"the judge {self._judge_id} has drifted: of {compared} canary items it decides {binaries} otherwise in "
            f"the binary and {len(changes)} in any way, and {GENUINE_BOUND:.0%} and {LABEL_BOUND:.0%} may be: "
            f"{_listed(changes)}. Its verdicts no longer go with those in the cache {self._kept.path}: judge with "
            "another model, or anew under another judge.cache; judge.canary false leaves this check out"
        )


async def _ask(client: ChatClient, question: Question) -> Verdict | Failure:
    outcome, _ = await complete_whole(client, question.body)
    return Failure("judge", outcome.kind, outcome.detail) if isinstance(outcome, Fault) else read(outcome)


def _messages(query: str, response: str, user_turn: str) -> tuple[Message, ...]:
    return Message("user", query), Message("assistant", response), Message("user", user_turn)


def _told(verdict: Verdict) -> str:
    return f"{verdict.label}, {'genuine' if verdict.genuine else 'not genuine'}"


def _listed(changes: list[Change]) -> str:
    return "; ".join(map(str, changes))
