"""Counts the outcomes of questions to a model, and stops a run in which no reply is readable.

Knows neither what was asked nor what a good reply is.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from eval.client.chat_reply import Reply
from eval.config import ConfigError

HOPELESS = 20
"""If this many replies are unreadable before the first readable one, the run is stopped: each reply is paid for."""


class ReplyLedger:
    """Counts questions by outcome: a name that the caller gives to a success, or the kind of a failure."""

    def __init__(self) -> None:
        self.questions: Counter[str] = Counter()
        self.models: Counter[str] = Counter()
        """Number of replies by model, as the server names it."""
        self._good = 0
        self._unreadable: Counter[str] = Counter()
        self._example = ""

    def good(self, end: str) -> None:
        """Count a question with an answer, new or cached."""
        self.questions[end] += 1
        self._good += 1

    def failed(self, kind: str) -> None:
        """Count a question without an answer."""
        self.questions[kind] += 1

    def replied(self, reply: Reply) -> None:
        """Count a reply, readable or not."""
        self.models[reply.model or "unnamed"] += 1

    def unreadable(self, kind: str, detail: str) -> None:
        """Count a reply that contains no answer."""
        self.failed(kind)
        self._unreadable[kind] += 1
        self._example = detail

    def stop_if_hopeless(self, who: str, sought: str, setting: str) -> None:
        """Stop the run if many replies were unreadable and none was readable.

        Args:
            sought: what the replies should contain.
            setting: name of the option that limits their length.

        Raises:
            ConfigError: they were; the message names the most common failure.
        """
        replies = self._unreadable.total()
        if replies >= HOPELESS and not self._good:
            kind, times = self._unreadable.most_common(1)[0]
            raise ConfigError(
                f"the first {replies} replies of {who} contain no {sought}, {times} of them for {kind} "
                f"(the last: {self._example}); choose a model and a server that keep a JSON schema, or, if replies are "
                f"truncated, raise {setting}"
            )

    @property
    def measured(self) -> dict[str, Any]:
        """The counts, for a manifest."""
        return {"questions": dict(self.questions), "models": dict(self.models)}
