"""Extracts from a response what a user can react to: sums, list items, clauses, terms, amounts, its answer, offers.

A facet is one such element, as values for slots; its `sentence` is the sentence it comes from.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from data_gen.scripted.arithmetic import Sum, sums
from data_gen.scripted.noun_phrases import ADJECTIVES, CLOSED, SUBJECTS, VERBS, WORD, noun_phrases
from data_gen.scripted.plain_text import LIST_ITEM, sentences_of, without_markup

Facet = Mapping[str, str]
"""Slot to text."""

KINDS = ("sum", "line", "item", "clause", "statement", "term", "amount", "quantity", "answer", "offer", "wish")
"""A line is a clause with an equation, a quantity an amount in a sentence with an equals sign. An offer is something
the response proposes to do, a wish something it asks whether the user wants."""
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
CLAUSE_END = re.compile(
    r"[,:](?!\d)|[;()\u2013\u2014]|(?<=[a-z])\s-\s(?=[a-z])"
    r"|\b(?:because|so that|which|while|although|unless|whereas|but|and then|if)\b"
)
LEADING = re.compile(r"^(?:and|or|but|so|then|also|thus|therefore|hence|because|yes|no)\b[ ,]*(?=\S)", re.IGNORECASE)
FRAGMENT = re.compile(
    r"(?:that|who|where|when|if|from|in|at|on|with|for|of|to|by|than|against|as|has|have|had|is|are|was)\b|\d",
    re.IGNORECASE,
)
"""Matches the start of a sentence part that means little on its own."""
AMOUNT = re.compile(
    r"\b\d[\d,]*(?:\.\d+)?(?:\s*(?:-|to|\u2013)\s*\d+)?\s*(?:%|(?:cm|mm|km|m|kg|g|mg|ml|l|oz|lb|am|pm|°C|°F)\b"
    r"|(?:[a-z]{2,}s|people|children|men|women|feet)\b)"
    r"(?!\s*[-+*/=\u00d7\u00f7])"
)
ANSWER = re.compile(r"The answer is (\S+)\.")
OFFER = re.compile(r"(?:Would you like me to|Do you want me to|Shall I|Should I) ([^?]+)\?")
WISH = re.compile(r"(?:Would you like|Do you want) (?!me\b)([^?]+)\?")
SPEAKERS = re.compile(r"\b(?:you|your|me|my|i)\b", re.IGNORECASE)
"""An offer with one of these cannot be repeated as it is: the speaker changes."""
EQUATION = re.compile(r"=\s*[$\u20ac\u00a3]?-?\.?\d")
DOUBLE_QUOTE = re.compile('["\u201c\u201d]')
NUMBER = re.compile(r"\d+")
SHORTEST_CLAUSE, LONGEST_CLAUSE = 4, 13
"""Minimum and maximum words of a clause to quote."""
LONGEST_STATEMENT = 10
"""Maximum words of a clause used after "that"."""
LONGEST_ITEM = 9
"""Maximum words quoted from a list item."""


@dataclass(frozen=True)
class Material:
    """The facets of one response."""

    facets: Mapping[str, tuple[Facet, ...]]
    """By kind; the keys are `KINDS`."""

    @classmethod
    def of(cls, query: str, response: str) -> Material:
        """Extract the facets of a response, skipping text that repeats the query, questions and lines ending in ":"."""
        known = frozenset(word.lower() for word in WORD.findall(query))
        numbers = frozenset(NUMBER.findall(query))
        found: dict[str, list[Facet]] = {kind: [] for kind in KINDS}
        sentences = sentences_of(response)
        for sentence in sentences:
            if answer := ANSWER.fullmatch(sentence):
                found["answer"].append({"answer": answer[1], "sentence": sentence})
            elif not sentence.endswith(("?", ":")):
                _add_facets(sentence, known, numbers, found)
        found["item"] = _items(response)
        for kind, offered in (("offer", OFFER), ("wish", WISH)):
            if sentences and (offer := offered.fullmatch(sentences[-1])) and not SPEAKERS.search(offer[1]):
                found[kind].append({kind: offer[1]})
        return cls({kind: tuple(facets) for kind, facets in found.items()})


def _add_facets(
    sentence: str, known: frozenset[str], numbers: frozenset[str], found: Mapping[str, list[Facet]]
) -> None:
    """Add the facets of one sentence to `found`."""
    found["sum"] += [_sum_facet(sum, sentence) for sum in sums(sentence)]
    for clause in clauses_of(sentence):
        kind = "line" if EQUATION.search(clause) else "clause"
        if not _adds_content(clause, known, numbers) or (kind == "clause" and "=" in clause):
            continue
        found[kind].append({kind: clause, "sentence": sentence})
        if kind == "clause" and is_statement(clause) and len(clause.split()) <= LONGEST_STATEMENT:
            found["statement"].append({"statement": clause[:1].lower() + clause[1:], "sentence": sentence})
    found["term"] += [{"term": term, "sentence": sentence} for term in noun_phrases(sentence, known)]
    kind = "quantity" if "=" in sentence else "amount"
    found[kind] += [
        {kind: amount, "sentence": sentence}
        for amount in AMOUNT.findall(sentence)
        if not set(NUMBER.findall(amount)) <= numbers and amount.split()[-1].lower() not in CLOSED
    ]


def clauses_of(sentence: str) -> list[str]:
    """The quotable parts of a sentence, the whole sentence if it is short; parts with quotation marks are dropped."""
    whole = LEADING.sub("", sentence.rstrip(".!?:;, "))
    parts = [whole]
    if len(whole.split()) > LONGEST_CLAUSE:
        parts = [LEADING.sub("", part.strip(" .!?'")) for part in CLAUSE_END.split(whole)]
        parts = [part for part in parts if not FRAGMENT.match(part)]
    return [
        part
        for part in parts
        if part[:1].isalnum()
        and SHORTEST_CLAUSE <= len(part.split()) <= LONGEST_CLAUSE
        and not DOUBLE_QUOTE.search(part)
    ]


def _adds_content(clause: str, known: frozenset[str], numbers: frozenset[str]) -> bool:
    """Whether a clause has two content words, or a number, that are not in the query."""
    words = {word.lower() for word in WORD.findall(clause) if len(word) > 3 and word.lower() not in CLOSED}
    return len(words - known) >= 2 or not set(NUMBER.findall(clause)) <= numbers


def is_statement(clause: str) -> bool:
    """Whether a clause can follow "that": it starts with a subject and contains a known verb."""
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
        "changed_result": changed.result,
        "changed_expression": changed.expression,
        "verdict": f"{verdict}, so that line holds" if sum.holds else f"{verdict}, so {sum.result} was a mistake",
        "sentence": sentence,
    }


def _items(response: str) -> list[Facet]:
    """The items of a list of two or more, each with its ordinal."""
    texts = [text.strip() for text in LIST_ITEM.findall(without_markup(response)) if len(text.split()) > 1]
    if len(texts) < 2:
        return []
    named = ((short(text), ordinal, text) for ordinal, text in zip(ORDINALS, texts, strict=False))
    return [{"item": item, "ordinal": ordinal, "sentence": text} for item, ordinal, text in named if item]


def short(text: str) -> str:
    """The head of a list item, up to a colon or full stop, shortened so that it does not end in a word like "of"."""
    head = DOUBLE_QUOTE.sub("", re.split(r"[:.!?;\u2013\u2014]\s|[:.]$|\s-\s", text)[0]).split()
    words = head[:LONGEST_ITEM]
    while len(head) > LONGEST_ITEM and words and words[-1].lower().strip(",") in CLOSED | ADJECTIVES:
        words.pop()
    return " ".join(words).rstrip(",.;:!?")
