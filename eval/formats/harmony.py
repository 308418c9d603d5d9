"""gpt-oss (harmony): every turn is one message, except that an answer has one message per channel; texts verbatim.

The template writes a system message with an identity, a date and the reasoning effort, and puts a system text into a
developer message. In the history, an answer is `<|start|>assistant<|channel|>final<|message|>yo<|end|>`; a final one is
closed by `<|return|>` instead. Generation starts after `<|start|>assistant`: the model writes its reasoning on the
channel analysis, ends that message with `<|end|>`, and writes its text on the channel final. Format: OpenAI harmony.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar, Literal

from eval.dialogue import Message
from eval.rendering.chat_format import ChatFormat, Utterance
from eval.rendering.turn_layout import History

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

DATE = "2025-08-05"
"""Release date of the weights; without it, the template writes today's date, and the ids change daily."""


class Format(ChatFormat):
    """gpt-oss, both sizes."""

    name = "harmony"
    # <|end|> ends any message: a user turn, but also an assistant's reasoning, so it must not end an answer
    stops: ClassVar = {
        "user": ("<|end|>", "<|return|>", "<|call|>"),
        "assistant": ("<|return|>", "<|call|>"),
    }
    marks = ("<|start|>", "<|channel|>", "<|message|>", "<|end|>")
    reasoning_field = "thinking"

    def __init__(
        self,
        tokenizer: PreTrainedTokenizerBase,
        history: History = "as_history",
        reasoning_effort: Literal["low", "medium", "high"] = "medium",
    ) -> None:
        self.options = {"reasoning_effort": reasoning_effort, "date": DATE}
        self.template_variables = {"reasoning_effort": reasoning_effort, "strftime_now": lambda _: DATE}
        super().__init__(tokenizer, history)
        self._start, self._channel, self._message, self._end = self._mark_ids

    def reasons_in(self, message: Message) -> bool:
        """True if the message has a reasoning, even an empty one: an answer needs no message on another channel."""
        return message.reasoning is not None

    def read(self, ids: list[int], role: str, finish: Literal["stop", "length"]) -> Utterance:
        """The text is the first final message, the reasoning all messages on other channels before it.

        A turn without a final message counts as truncated. A turn without any mark is all text.
        """
        if role != "assistant" or not {self._channel, self._message} & set(ids):
            return super().read(ids, role, finish)
        before: list[str] = []
        for channel, text, ended in self._messages(ids):
            if channel not in ("analysis", "commentary"):
                return Utterance(text, "\n".join(before) or None, "stop" if ended else finish)
            before.append(text)
        return Utterance("", "\n".join(before) or None, "length")

    def _messages(self, ids: list[int]) -> Iterator[tuple[str, str, bool]]:
        """(channel, text, whether it is closed) of each message; the channel is the first word after its mark."""
        while self._message in ids:
            begin = ids.index(self._message) + 1
            end = next((at for at in range(begin, len(ids)) if ids[at] in (self._end, self._start)), len(ids))
            header = ids[: begin - 1]
            channel = self.decode(header[header.index(self._channel) + 1 :]) if self._channel in header else ""
            yield (channel.split() or [""])[0], self.decode(ids[begin:end]), end < len(ids)
            ids = ids[end:]
