"""Makes text safe to display: invisible characters are spelled out, and markup is escaped."""

from __future__ import annotations

import json
import re
import unicodedata
from typing import Any

SEPARATORS = ("Zl", "Zp")
FILLERS = "\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0"
"""Letters and marks without width."""
SUSPECT = re.compile("[<>&\x7f-\U0010ffff]")
"""Characters that may need escaping in JSON, which already escapes ASCII control characters."""


def visible(text: str) -> str:
    """`text` with control, format and other invisible characters as ⟦U+202E⟧; line breaks stay."""
    if text.isprintable() and not any(char in FILLERS for char in text):
        return text
    return "".join(f"\u27e6U+{ord(char):04X}\u27e7" if _invisible(char) else char for char in text)


def json_for_html(value: Any) -> str:
    """JSON on one line for use inside a `<script>` element: it can neither end the element nor reorder the source."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return SUSPECT.sub(lambda char: _escape(char[0]) if char[0] in "<>&" or _invisible(char[0]) else char[0], text)


def _invisible(char: str) -> bool:
    if char in "\n\t":
        return False
    category = unicodedata.category(char)
    return category[0] == "C" or category in SEPARATORS or char in FILLERS


def _escape(char: str) -> str:
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))
