"""GLM-4.5, 4.6 and 4.7: a turn is ended by the header of the next one. User texts verbatim, answers trimmed.

In the history, an answer follows `<|assistant|>\\n<think></think>\\n` (4.5, 4.6) or `<|assistant|></think>` (4.7), and
a user turn is opened by `<|user|>\\n` or `<|user|>`. With thinking off, 4.5 and 4.6 append `/nothink` to every user
text; it belongs to the template, so it is neither trained nor part of the user's text. With thinking on, the model
itself generates `<think>` in 4.5 and 4.6, while the template of 4.7 opens it. `thinking` is on by default, as in the
shipped templates, which think unless `enable_thinking` is false. The checkpoint's template determines the version.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from eval.rendering.chat_format import Utterance
from eval.rendering.thinking_format import ThinkingFormat
from eval.rendering.turn_layout import History

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


class Format(ThinkingFormat):
    """GLM-4.5, 4.6 and 4.7, all sizes."""

    name = "glm"
    # <|assistant|> ends a user turn, but is in no generation_config.json: without it the model goes on to answer itself
    stops: ClassVar = {
        "user": ("<|assistant|>", "<|user|>", "<|observation|>", "<|endoftext|>"),
        "assistant": ("<|user|>", "<|observation|>", "<|endoftext|>"),
    }
    closers: ClassVar = {"user": "<|assistant|>", "assistant": "<|user|>"}
    marks = ("<think>", "</think>")

    def __init__(
        self, tokenizer: PreTrainedTokenizerBase, history: History = "as_history", thinking: bool = True
    ) -> None:
        super().__init__(tokenizer, history, thinking)
        self._switch = self._template.closed(("user",)).pieces[-1]

    def read(self, ids: list[int], role: str, finish: Literal["stop", "length"]) -> Utterance:
        """Drops what the template writes: the `/nothink` switch after a user text, the line break before an answer."""
        utterance = super().read(ids, role, finish)
        if role == "user":
            return utterance._replace(text=utterance.text.removesuffix(self._switch))
        return utterance._replace(text=utterance.text.removeprefix("\n"))
