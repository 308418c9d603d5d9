"""Text of unknown origin in pieces: what a reader sees as it is, what nobody would see by its code point.

Nothing here makes markup. The template writes each piece as escaped text.
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
"""Control, format, unassigned and private characters, surrogates, separators, ignorable ones, and the empty Braille."""
PICTURE = r"\p{Extended_Pictographic}[\ufe0f\p{EMod}]*"
OF_EMOJI = rf"{PICTURE}(?:\u200d{PICTURE})+|\p{{Emoji}}\ufe0f"
"""Joined emoji, whose joiners are seen in what they do."""
KINDS = {
    "Cc": "control character",
    "Cf": "format character",
    "Cs": "surrogate",
    "Co": "private use",
    "Cn": "unassigned",
}


@dataclass(frozen=True)
class Piece:
    """Part of a text: either what is seen, or the name of a character that is not, and how often it stands there."""

    text: str
    unseen: str | None = None
    """"U+202E", or None for text that is seen."""
    times: int = 1


def pieces(text: str) -> Iterator[Piece]:
    """`text` as pieces in its order; line ends of Windows become plain ones, other carriage returns are shown."""
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
