"""The template tokens between a sampled answer and the user turn after it.

The user turn is sampled and trained conditioned on exactly the ids the answer was sampled as: the assistant header, the
sampled ids with their stop token, then what the template writes up to the user header. This is the template's rendering
of the answer as the *last* turn. Families that render past answers differently (Qwen3.5 drops the empty think block)
give a default probe other ids at this place; `history: as_last` matches training.

Re-rendering the answer as history would condition the user turn on ids that were never sampled, or need a separate row
per turn. `episode: user_turn` starts from stored text and uses the history rendering.
"""

from __future__ import annotations

from collections.abc import Sequence

from eval.config import ConfigError
from eval.dialogue import Message
from eval.rendering.chat_format import ChatFormat

QUESTION, ANSWER = Message("user", "Text."), Message("assistant", "Text.")


class TurnBoundary:
    """The ids that close an answer and open the user turn."""

    def __init__(self, chat_format: ChatFormat, as_last: ChatFormat) -> None:
        """Extract the ids from the template.

        Args:
            as_last: the same format with `history="as_last"`.

        Raises:
            ConfigError: the family reasons before it answers, or no rendering contains an answer as it was sampled.
        """
        if chat_format.reasons_in(Message("assistant", "Text.", reasoning="Reason.")):
            raise ConfigError(
                f"format {chat_format.name} writes reasoning before the answer, and the user turn would be sampled "
                "with that reasoning in its context; switch thinking off, or use episode user_turn on stored answers"
            )
        self._stops = chat_format.stop_ids("assistant")
        prompt = chat_format.open_turn([QUESTION], "assistant")
        opened = as_last.open_turn([QUESTION, ANSWER], "user")
        rest = opened[len(prompt) :]
        answer = chat_format.clean(rest, "assistant")
        if opened[: len(prompt)] != prompt or answer.text != ANSWER.text or answer.finish != "stop":
            raise ConfigError(
                f"format {chat_format.name} has no rendering in which a user turn follows an answer as it was sampled; "
                "use episode user_turn on stored answers"
            )
        self._closing = rest[next(place for place, token in enumerate(rest) if token in self._stops) :]
        self.as_in_history = chat_format.open_turn([QUESTION, ANSWER], "user") == opened
        """Whether a probe with `history: as_history` has the same ids before a user turn."""

    def after(self, answer: Sequence[int]) -> list[int]:
        """The ids after a sampled answer; they start with the template's stop token unless the answer ends in it."""
        return self._closing[1:] if answer and answer[-1] == self._closing[0] else list(self._closing)

    @property
    def longest(self) -> int:
        """The largest number of ids that `after` returns."""
        return len(self._closing)
