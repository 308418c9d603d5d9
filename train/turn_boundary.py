"""What stands between an answer as it was sampled and the user's turn after it: token in, token out.

The user's turn is sampled behind, and trained behind, exactly the ids that the answer was sampled as: what opened the
answer, the sampled ids with their stop, then what the template writes from there to the user's header. That is the
template's rendering of the answer as the *last* turn. A family that renders an answer in history otherwise (Qwen3.5
leaves the empty think block out there) shows a probe other ids before a user's turn than these, unless the probe says
`history: as_last`. The other way, rendering the answer anew as history, would have the user's turn scored behind ids
that the answer was not sampled as, or need a row of its own for each turn. `episode: user_turn`, whose answers are
stored text, is trained behind the history rendering.
"""

from __future__ import annotations

from collections.abc import Sequence

from eval.config import ConfigError
from eval.dialogue import Message
from eval.rendering.chat_format import ChatFormat

QUESTION, ANSWER = Message("user", "Text."), Message("assistant", "Text.")


class TurnBoundary:
    """The ids that close an answer and open the user's turn."""

    def __init__(self, chat_format: ChatFormat, as_last: ChatFormat) -> None:
        """Read them off the template.

        Args:
            as_last: the same format with `history="as_last"`.

        Raises:
            ConfigError: the family reasons before it answers, or a sampled answer is no part of any rendering.
        """
        if chat_format.reasons_in(Message("assistant", "Text.", reasoning="Reason.")):
            raise ConfigError(
                f"format {chat_format.name} writes a reasoning before the answer, and the user's turn would be sampled "
                "after it, which no conversation is; switch thinking off, or use episode user_turn on stored answers"
            )
        self._stops = chat_format.stop_ids("assistant")
        begun = chat_format.open_turn([QUESTION], "assistant")
        opened = as_last.open_turn([QUESTION, ANSWER], "user")
        rest = opened[len(begun) :]
        said = chat_format.clean(rest, "assistant")
        if opened[: len(begun)] != begun or said.text != ANSWER.text or said.finish != "stop":
            raise ConfigError(
                f"format {chat_format.name} has no rendering in which a user's turn follows an answer as it was "
                "sampled; use episode user_turn on stored answers"
            )
        self._closing = rest[next(place for place, token in enumerate(rest) if token in self._stops) :]
        self.as_in_history = chat_format.open_turn([QUESTION, ANSWER], "user") == opened
        """Whether a probe with `history: as_history` has the same ids before a user's turn."""

    def after(self, answer: Sequence[int]) -> list[int]:
        """What follows the sampled ids of an answer; its stop is written where the answer has none, or another."""
        return self._closing[1:] if answer and answer[-1] == self._closing[0] else list(self._closing)

    @property
    def longest(self) -> int:
        """The most ids that `after` gives."""
        return len(self._closing)
