"""Which facets of a response fill the slots of a phrasing. Knows no wording."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping

from data_gen.plan import Persona
from data_gen.scripted.material import Facet, Material

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
    "question": "question",
    "answer": "answer",
    "constraint": "persona",
    "situation": "persona",
    "sentence": "any",
    "next": "any",
}


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
