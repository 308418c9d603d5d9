"""Cache of the turns a teacher's model has generated, so that no turn is paid for twice; replies are parsed strictly.

Failures are counted and returned, but not cached.
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
    """One generated turn."""

    text: str
    """Stripped of surrounding white space."""
    model: str | None
    """The model that the server reports."""
    tokens: int | None
    """Generated tokens, reasoning included; None if the server does not report them."""


class TurnStore:
    """Turns by the key of their question, in a cache that other teachers may share."""

    def __init__(self, cache: ResponseCache, teacher_id: str) -> None:
        self._cache, self._teacher_id = cache, teacher_id
        self._ledger = ReplyLedger()

    def recall(self, key: str) -> Turn | None:
        """The cached turn, if there is one."""
        known = self._cache.get(key)
        if known is None:
            return None
        self._ledger.good("known before")
        return Turn(**known)

    def keep(self, key: str, outcome: Reply | Fault) -> Turn | Failure:
        """Parse the outcome of a question; a turn is on disk when this returns.

        Raises:
            ConfigError: many replies contained no turn, and none ever did.
        """
        if isinstance(outcome, Fault):
            self._ledger.failed(outcome.kind)
            return Failure("generate", outcome.kind, outcome.detail)
        self._ledger.replied(outcome)
        text = _parse_text(outcome)
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
        """Questions by outcome ("spoken", "known before", or the kind of a failure), replies by model."""
        return self._ledger.measured


def _parse_text(reply: Reply) -> str | Fault:
    fields = object_of(reply, [FIELD])
    if isinstance(fields, Fault):
        return fields
    if not isinstance(fields[FIELD], str):
        return Fault("wrong_type", f"{FIELD} is {str(fields[FIELD])[:200]!r}")
    return fields[FIELD].strip() or Fault("empty", "the message has no text")
