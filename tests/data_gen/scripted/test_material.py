"""What a response offers is found in it, and only what the query does not say already."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from data_gen.scripted.facets import bindings, persona_slots
from data_gen.scripted.material import Material, clauses_of, is_statement, sentences_of
from data_gen.scripted.noun_phrases import noun_phrases

QUERY = "How do I keep my bread from going stale?"
RESPONSE = """Wrap it in a linen cloth, because plastic traps the moisture. It will last for 3 days.

1. **Store it cut side down** on a wooden board.
2. Freeze half of the loaf in slices.

Would you like a recipe for the old bread?"""


def values(kind: str, response: str = RESPONSE, query: str = QUERY) -> list[str]:
    return [facet[kind] for facet in Material.of(query, response).facets[kind]]


def test_each_kind_is_found_as_it_was_written() -> None:
    assert values("item") == ["Store it cut side down on a wooden board", "Freeze half of the loaf in slices"]
    assert values("question") == ["Would you like a recipe for the old bread?"]
    assert values("amount") == ["3 days"]
    assert "Wrap it in a linen cloth, because plastic traps the moisture" in values("clause")
    assert "the linen cloth" in values("term") and "the wooden board" in values("term")
    assert not values("term", "So it is.\n#### 42")
    assert values("answer", "6 * 7 = 42\n#### 42") == ["42"]
    assert [facet["left"] for facet in Material.of("", "6 * 7 = 42").facets["sum"]] == ["6 * 7"]


def test_what_the_query_says_is_no_material() -> None:
    again = Material.of(RESPONSE, RESPONSE)
    assert not again.facets["clause"] and not again.facets["term"] and not again.facets["amount"]


def test_every_facet_names_the_sentence_it_stands_in() -> None:
    sentences = sentences_of(RESPONSE)
    material = Material.of(QUERY, RESPONSE)
    for kind in ("clause", "term", "amount", "statement"):
        for facet in material.facets[kind]:
            assert facet["sentence"] in sentences
            value = facet[kind].removeprefix("the ")
            assert value.lower() in facet["sentence"].lower()


def test_a_final_answer_is_a_sentence_like_others() -> None:
    assert sentences_of("So 6 * 7 = 42.\n#### 42") == ["So 6 * 7 = 42.", "The answer is 42."]


def test_clauses_are_short_and_begin_with_a_word() -> None:
    long = "At 20 degrees, the dough rises slowly overnight in the fridge, which gives it more taste than yeast alone"
    for clause in clauses_of(long):
        assert 4 <= len(clause.split()) <= 13 and clause[0].isalpha() and clause in long


def test_a_statement_can_stand_behind_that() -> None:
    assert is_statement("the dough is ready when it springs back")
    assert not is_statement("Put the dough in the fridge")
    assert not is_statement("7 7 7 7") and not is_statement("")


def test_noun_phrases_carry_the_article_of_something_particular() -> None:
    found = noun_phrases("Put it in a dark place with olive oil and your old blanket.", frozenset({"place"}))
    assert found == ["the dark place", "olive oil", "the old blanket"]


def test_a_facet_is_not_used_twice() -> None:
    import random

    material, used = Material.of(QUERY, RESPONSE), set[str]()
    terms = []
    while (filled := bindings({"term"}, material, used, random.Random(0))) is not None:
        terms.append(filled["term"])
    assert len(terms) == len(set(terms)) == len(material.facets["term"])


def test_a_persona_fills_no_slot_of_the_response() -> None:
    from data_gen.plan import Persona

    assert set(persona_slots(Persona("p", "beginner", "g", "I c", "I s"))) == {"constraint", "situation"}


@given(st.text(max_size=400), st.text(max_size=400))
def test_no_text_breaks_it(query: str, response: str) -> None:
    for facets in Material.of(query, response).facets.values():
        assert all(isinstance(value, str) for facet in facets for value in facet.values())
