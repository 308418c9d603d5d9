"""What a response offers to react to: sums, list items, clauses, statements, terms, amounts, its question.

A facet is one such thing, as slots to fill in; `sentence` is where it stands. Knows no style.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from data_gen.scripted.arithmetic import Sum, sums
from data_gen.scripted.noun_phrases import CLOSED, SUBJECTS, VERBS, WORD, noun_phrases

Facet = Mapping[str, str]
"""Slot to text."""

ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
LIST_ITEM = re.compile(r"^\s*(?:(\d+)[.)]|[-*•])\s+(.*)$")
MARKS = re.compile(r"\*\*|__|`|^#{1,6}\s+|\\[\[\]()]", re.MULTILINE)
SENTENCE_END = re.compile(r"(?<=[.!?])[\"\u201d\u2019)]?\s+(?=[A-Z\"“(0-9])|\n+")
CLAUSE_END = re.compile(
    r"[,;:()\u2013\u2014]|(?<=[a-z])\s-\s(?=[a-z])"
    r"|\b(?:because|so that|which|while|although|unless|whereas|but|and then|if)\b"
)
LEADING = re.compile(r"^(?:and|or|but|so|then|also)\s+", re.IGNORECASE)
AMOUNT = re.compile(
    r"\b\d[\d,]*(?:\.\d+)?(?:\s*(?:-|to|\u2013)\s*\d+)?\s*(?:%|(?:cm|mm|km|m|kg|g|mg|ml|l|oz|lb|am|pm|°C|°F)\b|[a-z]{3,}\b)"
)
FINAL = re.compile(r"^####\s*(-?[\d,.]+)\s*$", re.MULTILINE)
ANSWERED = re.compile(r"The answer is -?[\d,.]+\.")
SHORTEST_CLAUSE, LONGEST_CLAUSE = 4, 13
"""Words of a clause that is worth quoting."""


@dataclass(frozen=True)
class Material:
    """The facets of one response by kind: sum, item, clause, statement, term, amount, question, answer."""

    facets: Mapping[str, tuple[Facet, ...]]

    @classmethod
    def of(cls, query: str, response: str) -> Material:
        """Read a response; what repeats the query alone is no material."""
        known = frozenset(word.lower() for word in WORD.findall(query))
        numbers = frozenset(re.findall(r"\d+", query))
        sentences = [sentence for sentence in sentences_of(response) if not ANSWERED.fullmatch(sentence)]
        found: dict[str, list[Facet]] = {
            "sum": [_sum_facet(sum, sentence) for sentence in sentences for sum in sums(sentence)],
            "item": _items(response),
            "clause": [
                {"clause": clause, "sentence": sentence}
                for sentence in sentences
                for clause in clauses_of(sentence)
                if _says_more(clause, known, numbers)
            ],
            "statement": [
                {"statement": clause[:1].lower() + clause[1:], "sentence": sentence}
                for sentence in sentences
                for clause in clauses_of(sentence)
                if is_statement(clause) and _says_more(clause, known, numbers)
            ],
            "term": [
                {"term": term, "sentence": sentence} for sentence in sentences for term in noun_phrases(sentence, known)
            ],
            "amount": [
                {"amount": amount, "sentence": sentence}
                for sentence in sentences
                if not any(sums(sentence))
                for amount in AMOUNT.findall(sentence)
                if not set(re.findall(r"\d+", amount)) <= numbers and amount.split()[-1].lower() not in CLOSED
            ],
            "question": [{"question": last, "sentence": last} for last in sentences[-1:] if last.endswith("?")],
            "answer": [
                {"answer": answer, "sentence": f"The answer is {answer}."} for answer in FINAL.findall(response)
            ],
        }
        return cls({kind: tuple(facets) for kind, facets in found.items()})


def sentences_of(text: str) -> list[str]:
    """The sentences and list items of a text, without markup, in order."""
    plain = MARKS.sub("", FINAL.sub(r"The answer is \1.", text))
    parts = (LIST_ITEM.sub(r"\2", part).strip(" \t-*•|>") for part in SENTENCE_END.split(plain))
    return [part for part in parts if part]


def clauses_of(sentence: str) -> list[str]:
    """The parts of a sentence that are worth quoting, the whole sentence if it is short."""
    whole = sentence.rstrip(".!?:;, ")
    if SHORTEST_CLAUSE <= len(whole.split()) <= LONGEST_CLAUSE:
        return [whole]
    parts = (LEADING.sub("", part.strip(" .!?\"“”'")) for part in CLAUSE_END.split(whole))
    return [part for part in parts if part[:1].isalpha() and SHORTEST_CLAUSE <= len(part.split()) <= LONGEST_CLAUSE]


def _says_more(clause: str, known: frozenset[str], numbers: frozenset[str]) -> bool:
    """Whether a clause has two content words, or a number, that the query has not."""
    words = {word.lower() for word in WORD.findall(clause) if len(word) > 3 and word.lower() not in CLOSED}
    return len(words - known) >= 2 or not set(re.findall(r"\d+", clause)) <= numbers


def is_statement(clause: str) -> bool:
    """Whether a clause can stand behind "that", as far as its first words tell."""
    words = [word.lower() for word in WORD.findall(clause)]
    return bool(words) and words[0] in SUBJECTS and not VERBS.isdisjoint(words[1:])


def _sum_facet(sum: Sum, sentence: str) -> Facet:
    changed = sum.changed()
    verdict = f"{sum.left} is {sum.true_result}"
    return {
        "expression": sum.expression,
        "left": sum.left,
        "first": sum.first,
        "second": sum.second,
        "result": sum.result,
        "changed": changed.first,
        "changed_expression": changed.expression,
        "verdict": f"{verdict}, so that line holds" if sum.holds else f"{verdict}, so {sum.result} was a mistake",
        "sentence": sentence,
    }


def _items(response: str) -> list[Facet]:
    """The items of a list of at least two, each with its place, and with the item behind it if there is one."""
    lines = [LIST_ITEM.match(line) for line in MARKS.sub("", response).splitlines()]
    texts = [found[2].strip() for found in lines if found and len(found[2].split()) > 1]
    if len(texts) < 2:
        return []
    return [
        {"item": short(text), "ordinal": ordinal, "number": str(place), "sentence": text}
        for place, (ordinal, text) in enumerate(zip(ORDINALS, texts, strict=False), start=1)
    ]


def short(text: str, words: int = 9) -> str:
    """The head of a list item: what stands before a colon or a full stop, in a few words."""
    head = re.split(r"[:.!?;\u2013\u2014]\s|[:.]$|\s-\s", text)[0]
    return " ".join(head.split()[:words]).rstrip(",.;:")
