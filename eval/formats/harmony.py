"""gpt-oss (harmony): every turn is one message, an answer one for each channel it speaks on; texts verbatim.

The template writes a system message with an identity, a date and the reasoning effort, and puts a system text into a
developer message. As history an answer is `<|start|>assistant<|channel|>final<|message|>yo<|end|>`; `<|return|>` closes
the last one instead. Generation starts behind `<|start|>assistant`: the model writes its reasoning on the channel
analysis, ends that message with `<|end|>`, and writes its text on the channel final. Format: OpenAI harmony.
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
"""The day the weights came out: the template would write today's, and no two days would give the same ids."""


class Format(ChatFormat):
    """gpt-oss, both sizes."""

    name = "harmony"
    # <|end|> ends any message: a user's turn, but an assistant's reasoning too, so that it must not end an answer
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
        """Where there is a reasoning, be it empty: an answer may well do without a message on another channel."""
        return message.reasoning is not None

    def read(self, ids: list[int], role: str, finish: Literal["stop", "length"]) -> Utterance:
        """The first final message; what was said on other channels before it is the reasoning.

        A turn that never gets to a final message is a turn cut off. One without any mark is all text.
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
        """(channel, text, whether its end is there) of each message; its header is cut at the first word."""
        while self._message in ids:
            begin = ids.index(self._message) + 1
            end = next((at for at in range(begin, len(ids)) if ids[at] in (self._end, self._start)), len(ids))
            header = ids[: begin - 1]
            channel = self.decode(header[header.index(self._channel) + 1 :]) if self._channel in header else ""
            yield (channel.split() or [""])[0], self.decode(ids[begin:end]), end < len(ids)
            ids = ids[end:]
