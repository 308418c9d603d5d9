"""What came of each question to a model, counted, and the stop when nothing ever comes of one.

Knows neither what was asked nor what a good reply is.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from eval.client.chat_reply import Reply
from eval.config import ConfigError

HOPELESS = 20
"""Replies that may be unreadable before the first one is read; then the run is stopped, because each is paid."""


class ReplyLedger:
    """Counts questions by their end: one of the caller's good ends, or the kind of a failure."""

    def __init__(self) -> None:
        self.questions: Counter[str] = Counter()
        self.models: Counter[str] = Counter()
        """Replies by the model that the server says has written them."""
        self._good = 0
        self._unreadable: Counter[str] = Counter()
        self._example = ""

    def good(self, end: str) -> None:
        """A question has its answer, new or from before."""
        self.questions[end] += 1
        self._good += 1

    def failed(self, kind: str) -> None:
        """A question has no answer."""
        self.questions[kind] += 1

    def replied(self, reply: Reply) -> None:
        """A reply arrived, readable or not."""
        self.models[reply.model or "unnamed"] += 1

    def unreadable(self, kind: str, detail: str) -> None:
        """A reply arrived that holds no answer."""
        self.failed(kind)
        self._unreadable[kind] += 1
        self._example = detail

    def stop_if_hopeless(self, who: str, sought: str, setting: str) -> None:
        """Stop when many replies were unreadable and none ever was not.

        Args:
            sought: what the replies should have held.
            setting: name of the option that bounds their length.

        Raises:
            ConfigError: so it is; it names the failure that is most common.
        """
        replies = self._unreadable.total()
        if replies >= HOPELESS and not self._good:
            kind, times = self._unreadable.most_common(1)[0]
            raise ConfigError(
                f"the first {replies} replies of {who} hold no {sought}, {times} of them for {kind} "
                f"(the last: {self._example}); choose a model and a server that keep a JSON schema, or, if replies are "
                f"truncated, raise {setting}"
            )

    @property
    def measured(self) -> dict[str, Any]:
        """The counts, for a manifest."""
        return {"questions": dict(self.questions), "models": dict(self.models)}
