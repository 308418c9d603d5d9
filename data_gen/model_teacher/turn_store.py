"""The turns that one teacher's model has spoken: read strictly, kept, and never paid for again.

A failure is counted and handed on, never kept and never text.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from data_gen.model_teacher.turn_prompts import FIELD
from eval.client.chat_reply import Fault, Reply
from eval.client.reply_ledger import ReplyLedger
from eval.client.reply_object import object_of
from eval.client.response_cache import ResponseCache
from eval.dialogue import Failure


@dataclass(frozen=True)
class Turn:
    """What was said, without white space around it."""

    text: str
    model: str | None
    """The model that the server says has spoken."""
    tokens: int | None
    """Generated tokens, those of the reasoning included; None: the server didn't say."""


class TurnStore:
    """Turns by the key of their question, over a cache that other teachers may share."""

    def __init__(self, cache: ResponseCache, teacher_id: str) -> None:
        self._cache, self._teacher_id = cache, teacher_id
        self._ledger = ReplyLedger()

    def recall(self, key: str) -> Turn | None:
        """The turn spoken before."""
        known = self._cache.get(key)
        if known is None:
            return None
        self._ledger.good("known before")
        return Turn(**known)

    def keep(self, key: str, outcome: Reply | Fault) -> Turn | Failure:
        """Read what came of a question; a turn is on disk when this returns.

        Raises:
            ConfigError: many replies hold no turn and none ever did.
        """
        if isinstance(outcome, Fault):
            self._ledger.failed(outcome.kind)
            return Failure("generate", outcome.kind, outcome.detail)
        self._ledger.replied(outcome)
        text = _text(outcome)
        if isinstance(text, Fault):
            self._ledger.unreadable(text.kind, text.detail)
            self._ledger.stop_if_hopeless(self._teacher_id, "turn", "teacher.max_completion_tokens")
            return Failure("generate", text.kind, text.detail)
        turn = Turn(text, outcome.model, outcome.usage.output if outcome.usage else None)
        self._cache.put(key, asdict(turn))
        self._ledger.good("spoken")
        return turn

    @property
    def measured(self) -> dict[str, Any]:
        """Questions by what came of them ("spoken", "known before", or the kind of a failure), replies by model."""
        return self._ledger.measured


def _text(reply: Reply) -> str | Fault:
    fields = object_of(reply, [FIELD])
    if isinstance(fields, Fault):
        return fields
    if not isinstance(fields[FIELD], str):
        return Fault("wrong_type", f"{FIELD} is {str(fields[FIELD])[:200]!r}")
    return fields[FIELD].strip() or Fault("empty", "the message has no text")
