"""Which facets of a response fill the slots of a phrasing. Knows no wording."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from data_gen.plan import Persona
from data_gen.scripted.material import Facet, Material
from data_gen.scripted.phrasing import Phrasing

KIND_OF_SLOT: Mapping[str, str] = {
    "expression": "sum",
    "left": "sum",
    "first": "sum",
    "second": "sum",
    "result": "sum",
    "changed": "sum",
    "changed_expression": "sum",
    "verdict": "sum",
    "item": "item",
    "ordinal": "item",
    "number": "item",
    "clause": "clause",
    "statement": "statement",
    "term": "term",
    "other": "other",
    "amount": "amount",
    "answer": "answer",
    "constraint": "persona",
    "situation": "persona",
    "sentence": "any",
    "next": "any",
}

SALIENCE: Mapping[str, float] = {
    "sum": 4.0,
    "item": 3.0,
    "amount": 3.0,
    "answer": 2.0,
    "statement": 2.0,
    "term": 2.0,
    "other": 2.0,
    "clause": 1.0,
    "persona": 1.0,
}
"""How likely people take up a facet of this kind where there is one: what stands out comes first."""


def by_salience(phrasings: Sequence[Phrasing], draw: random.Random) -> list[Phrasing]:
    """The phrasings in a random order, those that take up something salient mostly first.

    Kinds of facets compete, however many phrasings each has. Weighted order as in Efraimidis and Spirakis (2006).
    """
    kinds = {phrasing: _most_salient(phrasing) for phrasing in phrasings}
    phrasings_of = Counter(kinds.values())

    def place(phrasing: Phrasing) -> float:
        weight = SALIENCE[kinds[phrasing]] / phrasings_of[kinds[phrasing]]
        return float(draw.random() ** (1 / weight))

    return sorted(phrasings, key=place, reverse=True)


def _most_salient(phrasing: Phrasing) -> str:
    kinds = {KIND_OF_SLOT[slot] for slot in phrasing.slots} - {"any"} | {"persona"}
    return max(sorted(kinds), key=lambda kind: SALIENCE[kind])


def persona_slots(persona: Persona) -> Facet:
    """What the user may say of themselves."""
    return {"constraint": persona.constraint, "situation": persona.situation}


def bindings(slots: Iterable[str], material: Material, used: set[str], draw: random.Random) -> dict[str, str] | None:
    """A value for each slot that a response fills, and the `sentence` behind it; None where the response has none.

    Facets are preferred that are not in `used`, which those that are chosen are added to.
    """
    values: dict[str, str] = {}
    chosen: set[str] = set()
    for kind in sorted({KIND_OF_SLOT[slot] for slot in slots} - {"persona", "any"}):
        facet = _choose(material, kind, used | chosen, draw)
        if facet is None:
            return None
        chosen.add(_mark(kind, facet))
        values = {**facet, **values}
    used |= chosen
    return values


def _choose(material: Material, kind: str, used: set[str], draw: random.Random) -> Facet | None:
    """A facet of `kind` that is not used; "other" is a further term."""
    facets = material.facets["term" if kind == "other" else kind]
    fresh = [facet for facet in facets if _mark(kind, facet) not in used]
    if not fresh:
        return None
    facet = draw.choice(fresh)
    return {"other": facet["term"]} if kind == "other" else facet


def _mark(kind: str, facet: Facet) -> str:
    """The same for a term under either of its slots."""
    value = facet.get("term") or facet.get("other") or facet.get(kind) or facet.get("expression")
    return f"{'term' if kind == 'other' else kind}: {value}"
