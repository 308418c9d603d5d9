"""Chooses the facets of a response that fill the slots of a phrasing."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from data_gen.plan import Persona
from data_gen.scripted.material import Facet, Material
from data_gen.scripted.noun_phrases import WORD
from data_gen.scripted.phrasing import Phrasing

KIND_OF_SLOT: Mapping[str, str] = {
    "expression": "sum",
    "left": "sum",
    "first": "sum",
    "second": "sum",
    "result": "sum",
    "changed": "sum",
    "changed_result": "sum",
    "changed_expression": "sum",
    "verdict": "sum",
    "item": "item",
    "ordinal": "item",
    "line": "line",
    "clause": "clause",
    "statement": "statement",
    "term": "term",
    "other": "other",
    "amount": "amount",
    "quantity": "quantity",
    "answer": "answer",
    "offer": "offer",
    "wish": "wish",
    "constraint": "persona",
    "situation": "persona",
    "sentence": "any",
    "next": "any",
}

SALIENCE: Mapping[str, float] = {
    "offer": 6.0,
    "wish": 6.0,
    "sum": 2.0,
    "item": 3.0,
    "amount": 3.0,
    "quantity": 3.0,
    "answer": 2.0,
    "line": 2.0,
    "statement": 2.0,
    "term": 2.0,
    "other": 2.0,
    "clause": 1.0,
    "persona": 1.0,
}
"""Sampling weight of each kind of facet: how likely people are to react to one that is present."""


def by_salience(phrasings: Sequence[Phrasing], draw: random.Random) -> list[Phrasing]:
    """The phrasings in a random order weighted by the salience of their facets.

    The weight of a kind is split over its phrasings. Weighted sampling as in Efraimidis and Spirakis (2006).
    """
    kinds = {phrasing: _most_salient(phrasing) for phrasing in phrasings}
    phrasings_of = Counter(kinds.values())

    def sort_key(phrasing: Phrasing) -> float:
        weight = SALIENCE[kinds[phrasing]] / phrasings_of[kinds[phrasing]]
        return float(draw.random() ** (1 / weight))

    return sorted(phrasings, key=sort_key, reverse=True)


def _most_salient(phrasing: Phrasing) -> str:
    kinds = {KIND_OF_SLOT[slot] for slot in phrasing.slots} - {"any"} | {"persona"}
    return max(sorted(kinds), key=lambda kind: SALIENCE[kind])


def persona_slots(persona: Persona) -> Facet:
    """The slots that hold what users may say about themselves."""
    return {"constraint": persona.constraint, "situation": persona.situation}


def bindings(slots: Iterable[str], material: Material, used: set[str], draw: random.Random) -> dict[str, str] | None:
    """A value for each slot filled from the response, and the `sentence` it comes from; None if a facet is missing.

    Facets in `used` are skipped; the chosen ones are added to it.
    """
    values: dict[str, str] = {}
    chosen: set[str] = set()
    for kind in sorted({KIND_OF_SLOT[slot] for slot in slots} - {"persona", "any"}):
        beside = [text for slot, text in values.items() if slot != "sentence"]
        facet = _choose(material, kind, used | chosen, beside, draw)
        if facet is None:
            return None
        chosen.add(_facet_key(kind, facet))
        values = {**facet, **values}
    used |= chosen
    return values


def _choose(material: Material, kind: str, used: set[str], beside: Sequence[str], draw: random.Random) -> Facet | None:
    """An unused facet of `kind`; "other" is a further term. A term must not share a word with the texts in `beside`."""
    name = "term" if kind == "other" else kind
    fresh = [
        facet
        for facet in material.facets[name]
        if _facet_key(kind, facet) not in used and not (name == "term" and _overlaps(facet["term"], beside))
    ]
    if not fresh:
        return None
    facet = draw.choice(fresh)
    return {"other": facet["term"]} if kind == "other" else facet


def _overlaps(term: str, texts: Sequence[str]) -> bool:
    words = set(WORD.findall(term.lower())) - {"the"}
    return any(not words.isdisjoint(WORD.findall(text.lower())) for text in texts)


def _facet_key(kind: str, facet: Facet) -> str:
    """Identifies a facet; the same for a term in either of its slots."""
    value = facet.get("term") or facet.get("other") or facet.get(kind) or facet.get("expression")
    return f"{'term' if kind == 'other' else kind}: {value}"
