"""Constraints on the form of a response, given as data: `{"kind": "max_words", "value": 40}`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

WORD = re.compile(r"[^\W_]+(?:['’\-][^\W_]+)*")  # noqa: RUF001
BULLET = re.compile(r"\s*[-*•]\s+\S")
NUMBERED = re.compile(r"\s*\d{1,3}[.)]\s+\S")


def satisfies(response: str, constraints: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a response meets every constraint; an empty response meets none.

    Raises:
        ValueError: an unknown kind; the message lists the known ones.
    """
    verdicts = [_checker(constraint["kind"])(response.strip(), constraint["value"]) for constraint in constraints]
    return bool(response.strip()) and all(verdicts)


def words(text: str) -> list[str]:
    """The words of a text in lower case; apostrophes and hyphens inside a word are part of it."""
    return [word.lower() for word in WORD.findall(text)]


def _lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip()]


def _includes(text: str, phrase: str) -> bool:
    """Matches whole words, ignoring case."""
    return re.search(rf"(?<!\w){re.escape(phrase)}(?!\w)", text, re.IGNORECASE) is not None


def _json_keys(text: str, keys: list[str]) -> bool:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and sorted(value) == sorted(keys)


def _sentences(text: str) -> int:
    return len([part for part in re.split(r"(?<=[.!?])[\"')”’]*\s+", text) if words(part)])  # noqa: RUF001


def _paragraphs(text: str) -> int:
    return len([part for part in re.split(r"\n[ \t]*\n", text) if part.strip()])


CHECKERS: dict[str, Callable[[str, Any], bool]] = {
    "max_words": lambda text, limit: len(words(text)) <= limit,
    "min_words": lambda text, limit: len(words(text)) >= limit,
    "sentences": lambda text, count: _sentences(text) == count,
    "paragraphs": lambda text, count: _paragraphs(text) == count,
    "lines": lambda text, count: len(_lines(text)) == count,
    "bullets": lambda text, count: sum(bool(BULLET.match(line)) for line in _lines(text)) == count,
    "numbered_items": lambda text, count: sum(bool(NUMBERED.match(line)) for line in _lines(text)) == count,
    "starts_with": lambda text, start: text.startswith(start),
    "ends_with": lambda text, end: text.endswith(end),
    "includes": lambda text, phrases: all(_includes(text, phrase) for phrase in phrases),
    "excludes": lambda text, phrases: not any(_includes(text, phrase) for phrase in phrases),
    "without_characters": lambda text, characters: not set(text.lower()) & set(characters.lower()),
    "lower_case": lambda text, wanted: (text == text.lower()) is wanted,
    "upper_case": lambda text, wanted: (text == text.upper()) is wanted,
    "json_keys": _json_keys,
    "matches_line": lambda text, pattern: all(re.fullmatch(pattern, line.strip()) for line in _lines(text)),
    "count_of": lambda text, wanted: words(text).count(wanted["word"]) == wanted["count"],
}


def _checker(kind: str) -> Callable[[str, Any], bool]:
    if kind not in CHECKERS:
        raise ValueError(f"unknown constraint {kind!r}; known are {', '.join(sorted(CHECKERS))}")
    return CHECKERS[kind]
