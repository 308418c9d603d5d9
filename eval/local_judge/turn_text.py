"""The local judge's view of a text: its words, stems, numbers and character runs.

Language-neutral: words are runs of letters or digits, and text without word spaces (Chinese, Japanese, Thai) is split
into pairs of characters. Knows no labels.
"""

# ruff: noqa: RUF001 (text of several scripts is what this file is about)
from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import yaml

from eval.dialogue import Message

TURN_LIMIT = 6_000
"""Characters of a user turn that are read; the rest is ignored."""
CONTEXT_LIMIT = 12_000
"""Characters read of the query, of the response and of the earlier turns, each."""

UNSPACED = r"\u0e00-\u0eff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
LETTER = rf"(?![{UNSPACED}])[^\W\d_]"
WORD = re.compile(rf"\d+(?:[.,]\d+)*|[{UNSPACED}]+|(?:{LETTER})+(?:['’](?:{LETTER})+)*")
UNSPACED_WORD = re.compile(rf"[{UNSPACED}]")
SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s+|\n+")

WORDS = yaml.safe_load(Path(__file__).with_name("turn_words.yaml").read_text(encoding="utf-8"))
FUNCTION_WORDS = frozenset(WORDS["function_words"].split())
PLAIN_WORDS = frozenset(WORDS["plain_words"].split())
"""Content words that hardly distinguish one response from another."""
COMMON_WORDS = FUNCTION_WORDS | PLAIN_WORDS | frozenset(WORDS["common_words"].split())
"""Words that may occur in any conversation."""


def fold(text: str) -> str:
    """Lower case, NFKC, plain apostrophes: for comparison, never for storage."""
    return unicodedata.normalize("NFKC", text).lower().replace("’", "'")


def words(folded: str) -> list[str]:
    """The words of folded text in order; text of an unspaced script becomes overlapping pairs of characters."""
    found: list[str] = []
    for word in WORD.findall(folded):
        if UNSPACED_WORD.match(word):
            found.extend(word[i : i + 2] for i in range(max(1, len(word) - 1)))
        else:
            found.append(word)
    return found


@lru_cache(maxsize=100_000)
def stem(word: str) -> str:
    """A crude stem, equal for "eggs" and "egg", "rounding" and "rounded"; numbers lose their commas."""
    if word[0].isdigit():
        number = word.replace(",", "").rstrip(".")
        return number.rstrip("0").rstrip(".") if "." in number else number
    word = word.removesuffix("'s")
    if not word.isascii():
        return word[: max(4, len(word) - 2)] if len(word) > 5 else word
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            word = word[: -len(ending)]
            break
    return word.removesuffix("e") if len(word) > 4 else word


def is_number(word: str) -> bool:
    return word[0].isdigit()


def ngrams(items: Sequence[str], size: int) -> set[Any]:
    """All n-grams of `size` items; a single one of all items if there are fewer."""
    if not items:
        return set()
    starts = range(max(1, len(items) - size + 1))
    if isinstance(items, str):
        return {items[i : i + size] for i in starts}
    return {tuple(items[i : i + size]) for i in starts}


def share(part: set[Any], whole: set[Any]) -> float:
    """The share of `part` that is in `whole`; 0 for an empty part."""
    return len(part & whole) / len(part) if part else 0.0


@dataclass(frozen=True)
class Reading:
    """One text with its cached folded text, words, stems, content stems and numbers."""

    raw: str

    @cached_property
    def folded(self) -> str:
        return fold(self.raw)

    @cached_property
    def words(self) -> list[str]:
        return words(self.folded)

    @cached_property
    def stems(self) -> list[str]:
        return [stem(word) for word in self.words]

    @cached_property
    def counts(self) -> Counter[str]:
        return Counter(self.stems)

    @cached_property
    def vocabulary(self) -> set[str]:
        return set(self.stems)

    @cached_property
    def content(self) -> set[str]:
        """Stems of the content words, without numbers."""
        return {
            stem(word)
            for word in self.words
            if word not in FUNCTION_WORDS and not is_number(word) and (len(word) > 1 or not word.isascii())
        }

    @cached_property
    def numbers(self) -> set[str]:
        return {stem(word) for word in self.words if is_number(word)}

    @cached_property
    def squeezed(self) -> str:
        """The words of the folded text, joined by single spaces."""
        return " ".join(self.words)

    @cached_property
    def runs(self) -> set[Any]:
        """Trigrams of stems."""
        return ngrams(self.stems, 3)

    @cached_property
    def characters(self) -> set[Any]:
        """Character 5-grams of the squeezed text."""
        return ngrams(self.squeezed, 5)

    @cached_property
    def triples(self) -> set[str]:
        """Letter trigrams of the stems."""
        return set().union(*(ngrams(word, 3) for word in self.vocabulary))


@lru_cache(maxsize=64)
def read(text: str) -> Reading:
    """The cached reading of a text that recurs with many turns."""
    return Reading(text)


@dataclass(frozen=True)
class Exchange:
    """A user turn and what it could react to: the last query, the earlier turns, and the response."""

    query: Reading
    earlier: Reading
    response: Reading
    turn: Reading

    @cached_property
    def asking(self) -> Reading:
        """The last sentence of the query: in a word problem, the question."""
        sentences = [part for part in SENTENCE_END.split(self.query.raw) if part.strip()]
        return Reading(sentences[-1] if sentences else "")

    @classmethod
    def of(cls, context: Sequence[Message], turn: str) -> Exchange:
        """Read a context that ends in an assistant turn, and the user turn that follows it."""
        users = [message.text for message in context if message.role == "user"]
        query = users[-1] if users else ""
        earlier = "\n".join(message.text for message in context[:-1] if message.role != "system")
        return cls(
            read(query[:CONTEXT_LIMIT]),
            read(earlier[-CONTEXT_LIMIT:]),
            read(context[-1].text[:CONTEXT_LIMIT]),
            Reading(turn[:TURN_LIMIT]),
        )
