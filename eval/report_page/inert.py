"""Text that does nothing: what a reader cannot see is spelled out, what a parser could take for markup is escaped."""

from __future__ import annotations

import json
import re
import unicodedata
from typing import Any

SEPARATORS = ("Zl", "Zp")
FILLERS = "\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0"
"""Letters and marks of no width."""
SUSPECT = re.compile("[<>&\x7f-\U0010ffff]")
"""What may have to be escaped in JSON, which has escaped the control characters of ASCII itself."""


def visible(text: str) -> str:
    """`text` with control, format and other unseen characters as ⟦U+202E⟧; line breaks stay."""
    if text.isprintable() and not any(char in FILLERS for char in text):
        return text
    return "".join(f"\u27e6U+{ord(char):04X}\u27e7" if _unseen(char) else char for char in text)


def json_for_html(value: Any) -> str:
    """JSON on one line to stand inside a `<script>` element: nothing in it ends the element or reorders its source."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return SUSPECT.sub(lambda char: _escaped(char[0]) if char[0] in "<>&" or _unseen(char[0]) else char[0], text)


def _unseen(char: str) -> bool:
    if char in "\n\t":
        return False
    category = unicodedata.category(char)
    return category[0] == "C" or category in SEPARATORS or char in FILLERS


def _escaped(char: str) -> str:
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))
