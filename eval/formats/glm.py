"""GLM-4.5, 4.6 and 4.7: no token ends a turn, the header of the next one does. User texts verbatim, answers trimmed.

As history an answer stands behind `<|assistant|>\\n<think></think>\\n` (4.5, 4.6) or `<|assistant|></think>` (4.7), and
a user turn is opened by `<|user|>\\n` or `<|user|>`. With thinking off, 4.5 and 4.6 write `/nothink` after every user
text; it is the template's, so it is neither trained nor part of what a user said. With thinking on, 4.5 and 4.6 leave
it to the model to write `<think>`, 4.7 opens it. `thinking` is on unless told, because so are the shipped templates:
they think unless `enable_thinking` is false. Which version it is, the template of the checkpoint says.
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
    # <|assistant|> ends a user turn, but no generation_config.json has it: without it the model answers itself
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
        """As it is said, less what the template writes: the switch after a user's text, the line before an answer."""
        said = super().read(ids, role, finish)
        if role == "user":
            return said._replace(text=said.text.removesuffix(self._switch))
        return said._replace(text=said.text.removeprefix("\n"))
