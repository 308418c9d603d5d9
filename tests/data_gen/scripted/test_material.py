"""Facets are extracted from a response, except those that only repeat the query."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_gen.scripted.facets import KIND_OF_SLOT, SALIENCE, bindings, persona_slots
from data_gen.scripted.material import KINDS, Material, clauses_of, is_statement, short
from data_gen.scripted.noun_phrases import noun_phrases
from data_gen.scripted.plain_text import sentences_of
from data_gen.style import read_styles, style_names

QUERY = "How do I keep my bread from going stale?"
RESPONSE = """Wrap it in a linen cloth, because plastic traps the moisture. It will last for 3 days.

1. **Store it cut side down** on a wooden board.
2. Freeze half of the loaf in slices.

Would you like a recipe for the old bread?"""


def values(kind: str, response: str = RESPONSE, query: str = QUERY) -> list[str]:
    return [facet[kind] for facet in Material.of(query, response).facets[kind]]


def test_facets_of_each_kind_are_extracted_verbatim() -> None:
    assert values("item") == ["Store it cut side down on a wooden board", "Freeze half of the loaf in slices"]
    assert values("wish") == ["a recipe for the old bread"]
    assert values("offer", "It works. Would you like me to add a table?") == ["add a table"]
    assert not values("wish", "Would you like to tell me about your day?")
    assert values("amount") == ["3 days"]
    assert "Wrap it in a linen cloth, because plastic traps the moisture" in values("clause")
    assert "the linen cloth" in values("term") and "the wooden board" in values("term")
    assert not values("term", "So it is.\n#### 42")
    assert values("answer", "6 * 7 = 42\n#### 42") == ["42"]
    assert [facet["left"] for facet in Material.of("", "6 * 7 = 42").facets["sum"]] == ["6 * 7"]


def test_text_that_repeats_the_query_yields_no_facets() -> None:
    again = Material.of(RESPONSE, RESPONSE)
    assert not again.facets["clause"] and not again.facets["term"] and not again.facets["amount"]


def test_every_facet_carries_the_sentence_it_comes_from() -> None:
    sentences = sentences_of(RESPONSE)
    material = Material.of(QUERY, RESPONSE)
    for kind in ("clause", "term", "amount", "statement"):
        assert material.facets[kind], kind
        for facet in material.facets[kind]:
            assert facet["sentence"] in sentences
            value = facet[kind].removeprefix("the ")
            assert value.lower() in facet["sentence"].lower()


def test_lines_and_quantities_are_distinguished_from_clauses_and_amounts() -> None:
    response = "In the rows there are 12 * 4 = 48 chairs. A row holds 12 chairs when it is full. Type =SUM(A1) into it."
    assert values("line", response) == ["In the rows there are 12 * 4 = 48 chairs"]
    assert values("quantity", response) == ["48 chairs"] and values("amount", response) == ["12 chairs"]
    assert values("clause", response) == ["A row holds 12 chairs when it is full"]


def test_questions_and_lead_ins_of_the_response_yield_no_facets() -> None:
    facets = Material.of("", "Which of the wooden boards do you have at home now? These are the usual steps:").facets
    assert not any(facets.values())


def test_every_kind_fills_a_slot_of_some_phrasing() -> None:
    templates = "".join(text for style in read_styles(style_names()).values() for text in style.scripted.user)
    assert set(KIND_OF_SLOT.values()) - {"any", "persona", "other"} == set(KINDS)
    assert set(SALIENCE) == set(KIND_OF_SLOT.values()) - {"any"}
    assert all(f"{{{slot}}}" in templates for slot, kind in KIND_OF_SLOT.items() if kind != "any" and slot != "verdict")


def test_quoted_text_has_no_quotation_marks_and_no_dangling_end() -> None:
    assert clauses_of('In law it means that "he is honest" is taken for granted, which nobody has shown so far') == [
        "nobody has shown so far"
    ]
    assert short('"Sip slow, think deep."') == "Sip slow, think deep"
    assert (
        short("Wipe with vinegar water and dry the holes with a hairdryer")
        == "Wipe with vinegar water and dry the holes"
    )


def test_clauses_are_short_and_begin_with_a_word() -> None:
    long = "At 20 degrees, the dough rises slowly overnight in the fridge, which gives it more taste than yeast alone"
    clauses = clauses_of(long)
    assert clauses
    for clause in clauses:
        assert 4 <= len(clause.split()) <= 13 and clause[0].isalpha() and clause in long


def test_a_statement_can_follow_that() -> None:
    assert is_statement("the dough is ready when it springs back")
    assert not is_statement("Put the dough in the fridge")
    assert not is_statement("7 7 7 7") and not is_statement("")


def test_noun_phrases_with_a_determiner_get_the_definite_article() -> None:
    found = noun_phrases("Put it in a dark corner with olive oil and your old blanket.", frozenset({"corner"}))
    assert found == ["the dark corner", "olive oil", "the old blanket"]


@pytest.mark.parametrize(
    ("sentence", "phrases"),
    [
        ("The wind forgot my umbrella.", ["the umbrella"]),
        ("It is the tendon that anchors your forearm.", ["the tendon", "the forearm"]),
        ("Walk for a minute in the middle of the additional 3 days.", []),
        ("The number of the answer is small.", []),
        ("She has about 40 milligrams in the stomach, and is as patient as Ryan's aunt.", ["the stomach"]),
    ],
)
def test_vague_phrases_and_lookalikes_are_not_noun_phrases(sentence: str, phrases: list[str]) -> None:
    assert noun_phrases(sentence, frozenset()) == phrases


def test_a_facet_is_not_used_twice() -> None:
    material, used = Material.of(QUERY, RESPONSE), set[str]()
    terms = []
    while (filled := bindings({"term"}, material, used, random.Random(0))) is not None:
        terms.append(filled["term"])
    assert len(terms) == len(set(terms)) == len(material.facets["term"])


def test_two_facets_of_a_turn_do_not_overlap() -> None:
    material = Material.of("", "The stiff dough is slow in the fridge.")
    assert [facet["term"] for facet in material.facets["term"]] == ["the stiff dough", "the fridge"]
    assert bindings({"clause", "term"}, material, set(), random.Random(0)) is None


def test_a_persona_fills_no_slot_of_the_response() -> None:
    from data_gen.plan import Persona

    assert set(persona_slots(Persona("p", "beginner", "g", "I c", "I s"))) == {"constraint", "situation"}


@given(st.text(max_size=400), st.text(max_size=400))
def test_extraction_accepts_any_text(query: str, response: str) -> None:
    for facets in Material.of(query, response).facets.values():
        assert all(isinstance(value, str) for facet in facets for value in facet.values())
