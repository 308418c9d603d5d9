"""Named patterns of phrases that indicate what a user turn does, from `turn_cues.yaml`."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

PATTERNS: dict[str, re.Pattern[str]] = {
    name: re.compile(pattern, re.VERBOSE)
    for name, pattern in yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8")).items()
}
PROMPTED_REPLY = PATTERNS["prompted_reply"]
"""How people start to answer a question of the assistant."""
CUES = {name: pattern for name, pattern in PATTERNS.items() if name != "prompted_reply"}
