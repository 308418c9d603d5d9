"""Where a chat template puts the texts of a conversation, and what it writes around them.

The template is rendered with a marker in place of every text and cut at the markers. So it never sees a text, and no
text can steer it; and what it writes depends on the roles alone, so each sequence of roles is rendered once. This file
knows no family and no token ids; `chat_format.py` calls it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

History = Literal["as_history", "as_last"]
Render = Callable[[list[dict[str, str]], bool], str]
"""(messages as a template takes them, add_generation_prompt) -> text."""

PAD = "\u2003"  # an em space: every strip() removes it, and no template writes one
SLOT = re.compile(rf"({PAD}?)\[\[text of turn (\d+)\]\]({PAD}?)")


@dataclass(frozen=True)
class Layout:
    """The n + 1 pieces that a template writes around n texts, and whether it keeps each text's outer white space."""

    pieces: tuple[str, ...]
    keeps: tuple[tuple[bool, bool], ...]
    """(leading, trailing) for each text."""

    def fit(self, turn: int, text: str) -> str:
        """`text` as the template would write it in this turn."""
        leading, trailing = self.keeps[turn]
        text = text if leading else text.lstrip()
        return text if trailing else text.rstrip()


class TurnTemplate:
    """The layouts of a chat template, each rendered once. `where` names the template in errors.

    Raises (all methods):
        ValueError: the template refuses these roles, or does not write every text exactly once and in order.
    """

    def __init__(self, render: Render, history: History, where: str) -> None:
        self._render = render
        self._history = history
        self._where = where
        self._layouts: dict[tuple[tuple[str, ...], str | None], Layout] = {}

    def closed(self, roles: tuple[str, ...]) -> Layout:
        """A whole conversation."""
        if (roles, None) not in self._layouts:
            self._layouts[roles, None] = self._lay_out(roles, False)
        return self._layouts[roles, None]

    def opened(self, roles: tuple[str, ...], role: str) -> Layout:
        """A conversation and the header of the next turn, which `role` will speak."""
        if (roles, role) not in self._layouts:
            self._layouts[roles, role] = self._open(roles, role)
        return self._layouts[roles, role]

    def _open(self, roles: tuple[str, ...], role: str) -> Layout:
        if role == "assistant" and roles:
            return self._lay_out(roles, True)
        if self._history == "as_last" and roles[-1:] == ("assistant",):
            layout = self.closed(roles)
            return Layout((*layout.pieces[:-1], layout.pieces[-1] + self._header(role)), layout.keeps)
        layout = self.closed((*roles, role))
        return Layout(layout.pieces[:-1], layout.keeps[:-1])

    def _header(self, role: str) -> str:
        """What stands between two turns of `role`, less what closes the first."""
        _, between, closer = self.closed((role, role)).pieces
        if not between.startswith(closer):
            raise ValueError(f"{self._where} closes a last {role} turn unlike an earlier one; use history as_history")
        return between.removeprefix(closer)

    def _lay_out(self, roles: tuple[str, ...], add_generation_prompt: bool) -> Layout:
        from jinja2 import TemplateError

        if not roles:
            raise ValueError("there is no conversation without a turn")
        turns = [{"role": role, "content": f"{PAD}[[text of turn {i}]]{PAD}"} for i, role in enumerate(roles)]
        given = f"[{', '.join(roles)}]{' and the header of an assistant turn' if add_generation_prompt else ''}"
        try:
            parts = SLOT.split(self._render(turns, add_generation_prompt))
        except TemplateError as error:
            raise ValueError(f"{self._where} refuses the turns {given}: {error}") from error
        written = [int(number) for number in parts[2::4]]
        if written != list(range(len(roles))):
            raise ValueError(
                f"{self._where} drops, repeats or reorders a message: for the turns {given} it writes the texts of "
                f"turns {written}, not each of 0 to {len(roles) - 1} once"
            )
        keeps = tuple(
            (bool(leading), bool(trailing)) for leading, trailing in zip(parts[1::4], parts[3::4], strict=True)
        )
        return Layout(tuple(parts[0::4]), keeps)
