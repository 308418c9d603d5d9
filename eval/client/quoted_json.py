"""Text of unknown origin as data in a prompt: JSON that it can neither end nor turn into control tokens."""

from __future__ import annotations

import json
import re
from typing import Any

CONTROL = re.compile(r"<(?=[^\s\d=])|\[(?=/?[A-Za-z_]{2,}\])|/(?=(?:no_?)?think)")
"""How control tokens begin in any chat family: `<|`, `<s>`, `</think>`, `[INST]`, `[gMASK]`, `/nothink`."""


def quoted_json(value: Any) -> str:
    """JSON values as text; parsing it gives back every string.

    What could be read as a control token is written with JSON's own escapes, and so is what UTF-8 cannot hold. Field
    names are the caller's own and hold none.
    """
    text = json.dumps(value, ensure_ascii=False)
    text = CONTROL.sub(lambda start: f"\\u{ord(start[0]):04x}", text)
    return text.encode("utf-8", "backslashreplace").decode()
