"""Base of chat families that can switch reasoning on and off and write it between two marks before the text.

Reasoning and text are separated by the ids of the marks, never by their strings. The families are in `eval/formats/`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Literal

from eval.dialogue import Message
from eval.rendering.chat_format import ChatFormat, Utterance
from eval.rendering.turn_layout import History

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


class ThinkingFormat(ChatFormat):
    """A chat format with the option `thinking`; if it is off, an assistant turn is all text."""

    marks: ClassVar[tuple[str, str]]
    """The tokens before and after the reasoning."""

    def __init__(
        self, tokenizer: PreTrainedTokenizerBase, history: History = "as_history", thinking: bool = False
    ) -> None:
        self.thinking = thinking
        self.options = {"thinking": thinking}
        self.template_variables = {"enable_thinking": thinking}
        super().__init__(tokenizer, history)
        opened = self.open_turn([Message("user", "")], "assistant")
        self._opened_by_header = thinking and self._mark_ids[0] in opened
        """Whether the header already contains the opening mark; otherwise the model generates it."""

    def reasons_in(self, message: Message) -> bool:
        """True whenever thinking is on: a turn without reasoning is rendered with an empty one."""
        return self.thinking

    def read(self, ids: list[int], role: str, finish: Literal["stop", "length"]) -> Utterance:
        """Reasoning up to the closing mark, then text; a turn whose reasoning never closes counts as truncated."""
        if role != "assistant" or not self.thinking:
            return super().read(ids, role, finish)
        begins, ends = self._mark_ids
        if ends in ids:
            end = ids.index(ends)
            return Utterance(self.decode(ids[end + 1 :]).lstrip("\n"), self._reasoning(ids[:end]), finish)
        if begins in ids or self._opened_by_header:
            return Utterance("", self._reasoning(ids), "length")
        return super().read(ids, role, finish)

    def _reasoning(self, ids: Sequence[int]) -> str | None:
        begins = self._mark_ids[0]
        start = ids.index(begins) + 1 if begins in ids else 0
        return self.decode(ids[start:]).strip() or None
