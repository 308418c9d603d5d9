"""Quotes untrusted text in a prompt as JSON that it can neither end nor turn into control tokens."""

from __future__ import annotations

import json
import re
from typing import Any

CONTROL = re.compile(r"<(?=[^\s\d=])|\[(?=/?[A-Za-z_]{2,}\])|/(?=(?:no_?)?think)")
"""The beginning of a control token in any chat family: `<|`, `<s>`, `</think>`, `[INST]`, `[gMASK]`, `/nothink`."""


def quoted_json(value: Any) -> str:
    """The JSON text of a value; parsing it returns every string unchanged.

    The beginnings of control tokens, and what UTF-8 cannot encode, are written as JSON escapes. Field names come from
    the caller and contain neither.
    """
    text = json.dumps(value, ensure_ascii=False)
    text = CONTROL.sub(lambda start: f"\\u{ord(start[0]):04x}", text)
    return text.encode("utf-8", "backslashreplace").decode()
