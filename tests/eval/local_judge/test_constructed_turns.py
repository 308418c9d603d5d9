from __future__ import annotations

from collections import Counter

from eval.dialogue import Dialogue, Message
from eval.gold import GoldItem
from eval.labels import ALWAYS_GENUINE, LABELS
from eval.local_judge.constructed_turns import construct
from eval.local_judge.turn_text import Exchange

QUERIES = ("How do I repot a fern?", "Name three rivers of France.", "Why does bread need salt?", "Is my bike too big?")
RESPONSE = (
    "Start with a container one size up. Loosen the roots with your fingers. Fill the gaps with fresh compost. Water "
    "it well and keep it in the shade for 10 days. Feed it again in spring."
)


def item(query: str) -> GoldItem:
    messages = (Message("user", query), Message("assistant", RESPONSE), Message("user", "Which compost?"))
    return GoldItem(Dialogue("test", messages), "genuine_followup", True, query, "written", None)


ITEMS = [item(query) for query in QUERIES]


def test_the_same_seed_makes_the_same_turns_and_another_seed_others():
    assert construct(ITEMS, 20, seed=1) == construct(ITEMS, 20, seed=1)
    assert construct(ITEMS, 20, seed=1) != construct(ITEMS, 20, seed=2)


def test_all_labels_are_known_and_the_binary_follows_from_the_label():
    made = construct(ITEMS, 60, seed=0)
    counts = Counter(one.label for one in made)
    assert set(counts) == set(LABELS) - {"other"}
    assert all(one.genuine == (one.label in ALWAYS_GENUINE) for one in made)


def test_every_turn_keeps_the_query_that_splits_go_by():
    made = construct(ITEMS, 60, seed=0)
    assert {one.context for one in made} == set(QUERIES)
    assert all(one.dialogue.messages[0].text == one.context for one in made)


def test_no_blank_is_left_unfilled():
    texts = [one.dialogue.messages[-1].text for one in construct(ITEMS, 200, seed=0)]
    blanks = ("{word}", "{quote}", "{taken}", "{number}", "{asked}", "{stranger}")
    assert not [text for text in texts if any(blank in text for blank in blanks)]


def test_a_constructed_follow_up_names_something_of_the_response():
    made = [one for one in construct(ITEMS, 200, seed=0) if one.label == "genuine_followup"]
    exchanges = [Exchange.of(one.dialogue.messages[:-1], one.dialogue.messages[-1].text) for one in made]
    assert len(made) > 20
    assert all(exchange.turn.vocabulary & exchange.response.vocabulary for exchange in exchanges)


def test_a_continuation_is_the_rest_of_the_response():
    made = [one for one in construct(ITEMS, 60, seed=0) if one.label == "assistant_continuation"]
    cut = [one for one in made if one.dialogue.messages[-2].text != RESPONSE]
    assert cut
    assert all(one.dialogue.messages[-1].text.split("\n")[0] in RESPONSE for one in cut)
