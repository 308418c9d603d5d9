"""Where a chat template puts the texts of a conversation, and what it writes around them.

The template is rendered with a marker in place of every text and cut at the markers. So it never sees a text, and no
text can steer it; and what it writes depends on the roles alone, so each sequence of roles is rendered once. This file
knows no family and no token ids; `chat_format.py` beside it calls it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from eval.dialogue import Message

History = Literal["as_history", "as_last"]
Render = Callable[[list[dict[str, str]], bool], str]
"""(messages as a template takes them, add_generation_prompt) -> text."""

PAD = "\u2003"  # an em space: every strip() removes it, and no template writes one
MARKER = re.compile(rf"({PAD}?)\[\[(text|reasoning) of turn (\d+)\]\]({PAD}?)")


@dataclass(frozen=True)
class Slot:
    """A place between two pieces: of a text, of a reasoning, or of nothing, where the generation of a turn starts."""

    turn: int
    holds: Literal["text", "reasoning", "start"]
    leading: bool = True
    """Whether the template keeps the white space that a text begins with."""
    trailing: bool = True

    def fill(self, messages: Sequence[Message]) -> str:
        """What stands here, as the template would write it."""
        message = messages[self.turn]
        text = {"text": message.text, "reasoning": message.reasoning or "", "start": ""}[self.holds]
        text = text if self.leading else text.lstrip()
        return text if self.trailing else text.rstrip()


@dataclass(frozen=True)
class Layout:
    """The n + 1 pieces that a template writes around n slots."""

    pieces: tuple[str, ...]
    slots: tuple[Slot, ...]


class TurnTemplate:
    """The layouts of a chat template, each rendered once. `where` names the template in errors.

    Raises (all methods):
        ValueError: the template refuses these roles, or does not write every text exactly once and in order.
    """

    def __init__(
        self, render: Render, history: History, where: str, reasoning_field: str = "reasoning_content"
    ) -> None:
        self._render = render
        self._history = history
        self._where = where
        self._reasoning_field = reasoning_field
        self._closed: dict[tuple[tuple[str, ...], bool], Layout] = {}
        self._opened: dict[tuple[tuple[str, ...], str], Layout] = {}

    def closed(self, roles: tuple[str, ...], reasoned: bool = False) -> Layout:
        """A whole conversation; its last turn with a slot for its reasoning, if `reasoned`.

        A "start" slot stands in a last assistant turn where its header ends: behind it is what a model generates.
        """
        if (roles, reasoned) not in self._closed:
            layout = self._lay_out(roles, reasoned=reasoned)
            if roles[1:] and roles[-1] == "assistant":
                header = self.opened(roles[:-1], "assistant").pieces[-1]
                layout = _start_after(header, layout, turn=len(roles) - 1)
            self._closed[roles, reasoned] = layout
        return self._closed[roles, reasoned]

    def opened(self, roles: tuple[str, ...], role: str) -> Layout:
        """A conversation and the header of the next turn, which `role` will speak. It holds no reasoning."""
        if (roles, role) not in self._opened:
            self._opened[roles, role] = self._open(roles, role)
        return self._opened[roles, role]

    def _open(self, roles: tuple[str, ...], role: str) -> Layout:
        if role == "assistant" and roles:
            return self._lay_out(roles, add_generation_prompt=True)
        if self._history == "as_last" and roles[-1:] == ("assistant",):
            layout = self._lay_out(roles)
            return Layout((*layout.pieces[:-1], layout.pieces[-1] + self._header(role)), layout.slots)
        layout = self._lay_out((*roles, role))
        return Layout(layout.pieces[:-1], layout.slots[:-1])

    def _header(self, role: str) -> str:
        """What stands between two turns of `role`, less what closes the first."""
        _, between, closer = self._lay_out((role, role)).pieces
        if not between.startswith(closer):
            raise ValueError(f"{self._where} closes a last {role} turn unlike an earlier one; use history as_history")
        return between.removeprefix(closer)

    def _lay_out(
        self, roles: tuple[str, ...], *, add_generation_prompt: bool = False, reasoned: bool = False
    ) -> Layout:
        from jinja2 import TemplateError

        if not roles:
            raise ValueError("there is no conversation without a turn")
        turns = [{"role": role, "content": _marker("text", turn)} for turn, role in enumerate(roles)]
        expected = [("text", turn) for turn in range(len(roles))]
        if reasoned:
            turns[-1][self._reasoning_field] = _marker("reasoning", len(roles) - 1)
            expected.insert(-1, ("reasoning", len(roles) - 1))
        given = f"[{', '.join(roles)}]{' and the header of an assistant turn' if add_generation_prompt else ''}"
        try:
            pieces, slots = _cut(self._render(turns, add_generation_prompt))
        except TemplateError as error:
            raise ValueError(f"{self._where} refuses the turns {given}: {error}") from error
        written = [(slot.holds, slot.turn) for slot in slots]
        if written != expected:
            raise ValueError(
                f"{self._where} drops, repeats or reorders a message: for the turns {given} it writes "
                f"{_listed(written)}, not {_listed(expected)}"
            )
        return Layout(pieces, slots)


def _marker(holds: str, turn: int) -> str:
    return f"{PAD}[[{holds} of turn {turn}]]{PAD}"


def _cut(text: str) -> tuple[tuple[str, ...], tuple[Slot, ...]]:
    parts = MARKER.split(text)
    found = zip(parts[1::5], parts[2::5], parts[3::5], parts[4::5], strict=True)
    slots = tuple(
        Slot(int(turn), holds, bool(leading), bool(trailing))  # type: ignore[arg-type]
        for leading, holds, turn, trailing in found
    )
    return tuple(parts[0::5]), slots


def _start_after(header: str, layout: Layout, turn: int) -> Layout:
    """`layout` with a "start" slot behind the header of `turn`, unless that header is not there."""
    pieces, slots = layout.pieces, layout.slots
    at = next(position for position, slot in enumerate(slots) if slot.turn == turn)
    if not pieces[at].startswith(header):
        return layout
    return Layout(
        (*pieces[:at], header, pieces[at].removeprefix(header), *pieces[at + 1 :]),
        (*slots[:at], Slot(turn, "start"), *slots[at:]),
    )


def _listed(written: Sequence[tuple[str, int]]) -> str:
    return ", ".join(f"the {holds} of turn {turn}" for holds, turn in written) or "no text"
