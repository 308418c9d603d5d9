"""Splits untrusted text into visible pieces and invisible characters, which are shown by their code points.

It produces no markup: the template writes each piece as escaped text.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from regex import Pattern

UNSEEN = r"(?![\n\t])[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]"
"""Control, format, unassigned, private, surrogate, separator and ignorable characters, and blank Braille."""
PICTURE = r"\p{Extended_Pictographic}[\ufe0f\p{EMod}]*"
OF_EMOJI = rf"{PICTURE}(?:\u200d{PICTURE})+|\p{{Emoji}}\ufe0f"
"""Joined emoji, whose joiners have a visible effect."""
KINDS = {
    "Cc": "control character",
    "Cf": "format character",
    "Cs": "surrogate",
    "Co": "private use",
    "Cn": "unassigned",
}


@dataclass(frozen=True)
class Piece:
    """Part of a text: visible text, or the name of an invisible character and how often it is repeated."""

    text: str
    unseen: str | None = None
    """The code point, such as "U+202E"; None for visible text."""
    times: int = 1


def pieces(text: str) -> Iterator[Piece]:
    """The pieces of `text` in order; CRLF becomes LF, other carriage returns are shown."""
    text = text.replace("\r\n", "\n")
    start = 0
    for found in _pattern().finditer(text):
        if found.lastgroup == "emoji":
            continue
        if text[start : found.start()]:
            yield Piece(text[start : found.start()])
        for character, run in groupby(found[0]):
            yield Piece(_name(character), f"U+{ord(character):04X}", len(list(run)))
        start = found.end()
    if text[start:]:
        yield Piece(text[start:])


@cache
def _pattern() -> Pattern[str]:
    import regex

    return regex.compile(f"(?P<emoji>{OF_EMOJI})|(?P<unseen>(?:{UNSEEN})+)")


def _name(character: str) -> str:
    kind = KINDS.get(unicodedata.category(character), "invisible character")
    return unicodedata.name(character, kind).lower()
