"""Detects artifacts in a user turn: special tokens, role headers, loops, broken encoding.

Special tokens are recognized by their shape, so those of unknown model families are found too.
"""

# ruff: noqa: RUF001 (text of several scripts is what this file is about)
from __future__ import annotations

import re
from operator import eq

SPECIAL_TOKEN = re.compile(
    r"<\|[^|<>\n]{1,40}\|>|<｜[^｜<>\n]{1,40}｜>|\[/?INST\]|<</?SYS>>|</?s>|<(?:bos|eos|pad|unk|sop|eop)>"
    r"|\[gMASK\]|\[/?(?:SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS)\]|</?(?:start|end)_of_(?:turn|role|text|image)>?"
    r"|</?(?:tool_call|tool_response|arg_key|arg_value)>|/no_?think\b|(?<!\S)/think(?!\S)"
    r"|\bassistant(?:analysis|commentary|final)|(?-i:\A\s*(?:analysis|commentary)[A-Z]\w*)",
    re.IGNORECASE,
)
"""Also words that switch thinking or name a channel whose surrounding marks are lost ("assistantfinal")."""
ROLE_HEADER = re.compile(
    r"(?:^|\n)[ \t>*#_]{0,6}(?:user|assistant|system|human|ai|model)[ \t*_]{0,4}(?::|：|\n|$)"
    r"|(?:^|\n)\s*(?:assistant|user)?(?:analysis|commentary|final)(?=[A-Z{])"
    r"|(?:^|\n)\s*assistant\s*(?:analysis|commentary|final)\b",
)
LABELLED_ROLE = re.compile(r"(?:^|\n)[ \t>*#_]{0,6}(?:User|Assistant|System|Human|AI|ASSISTANT|USER)[ \t*_]{0,4}[:：]")
THINK_TAG = re.compile(r"</?think(?:ing)?>", re.IGNORECASE)
STRAY_TAG = re.compile(r"\A(?:(?!<think(?:ing)?>).)*?(</think(?:ing)?>)", re.IGNORECASE | re.DOTALL)
"""A closing think tag without an opening one. Thoughts that start in the turn are read as text, mostly planning."""
SEPARATOR = re.compile(r"[.!?。！？\n;؟,，、]+")
LOOP_WINDOW = 1_500
"""Words searched for a loop: a loop fills its turn, so it starts early."""


def special_tokens(text: str, known: str) -> int:
    """The number of special tokens in `text` that do not occur in the conversation before it (`known`)."""
    return sum(token not in known for token in [*SPECIAL_TOKEN.findall(text), *STRAY_TAG.findall(text)])


def role_headers(text: str) -> int:
    """The number of lines that name a speaker, or leak a channel, as a chat template would."""
    return len(ROLE_HEADER.findall(text)) + len(LABELLED_ROLE.findall(text))


def loop_share(words: list[str]) -> tuple[float, int]:
    """The share of a turn's words in the longest loop, and the index where it starts; (0.0, len(words)) without one.

    A loop repeats a unit of up to 40 words three or more times; its last repetition may be cut off.
    """
    words = words[:LOOP_WINDOW]
    best_length, best_start = 0, len(words)
    for period in range(1, min(40, len(words) // 2) + 1):
        if sum(map(eq, words[period:], words)) < 2 * period:
            continue
        run = 0
        for i in range(period, len(words) + 1):
            if i < len(words) and words[i] == words[i - period]:
                run += 1
                continue
            length = run + period
            if run >= 2 * period and length > best_length:
                best_length, best_start = length, i - length
            run = 0
    return (best_length / len(words) if words else 0.0), best_start


def repeated_clauses(folded: str) -> int:
    """The number of occurrences of the most frequent clause of at least two words."""
    counts: dict[str, int] = {}
    for clause in SEPARATOR.split(folded[: LOOP_WINDOW * 4]):
        clause = " ".join(clause.split())
        if " " in clause or len(clause) > 5:
            counts[clause] = counts.get(clause, 0) + 1
    return max(counts.values(), default=0)


def repeated_characters(text: str) -> float:
    """The share of the text in runs of ten or more of one visible character."""
    runs = sum(len(match.group()) for match in re.finditer(r"(\S)\1{9,}", text))
    return runs / len(text) if text else 0.0


def debris_share(text: str) -> float:
    """The share of characters that are neither letters, digits, spaces nor plain punctuation."""
    plain = sum(c.isalnum() or c.isspace() or c in ".,;:!?'\"()-–—’“”¿¡%$€£/" or ord(c) > 0x300 for c in text)
    return 1 - plain / len(text) if text else 0.0
