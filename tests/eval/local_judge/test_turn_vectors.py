from __future__ import annotations

import json

import numpy as np
import pytest

from eval.dialogue import Message
from eval.local_judge.turn_text import Exchange
from eval.local_judge.turn_vectors import SENTENCES, TURN_SENTENCES, Components, cosines, texts_of, turn_vector

QUERY, RESPONSE = "How do I repot a fern?", "Loosen the roots. Fill the gaps with compost."


class Axes:
    """Each text that is known lies on an axis of its own; the rest on one more."""

    digest = "axes"

    def __init__(self, *known: str) -> None:
        self.known = known

    def vectors(self, texts):
        places = [self.known.index(text) if text in self.known else len(self.known) for text in texts]
        return np.eye(len(self.known) + 1, dtype=np.float32)[places]


def exchange(turn: str, response: str = RESPONSE) -> Exchange:
    return Exchange.of([Message("user", QUERY), Message("assistant", response)], turn)


def test_a_turn_that_is_a_sentence_of_the_response_is_nearest_to_it():
    found = cosines(exchange("Loosen the roots."), Axes(QUERY, RESPONSE, "Loosen the roots."))
    assert found["vector_response_sentence"] == 1 and found["vector_query_sentence"] == 0
    assert found["vector_closer_sentence"] == 1 and found["vector_far"] == 0
    assert found["vector_response"] == 0 and found["vector_last_sentence"] == 0
    assert found["vector_response_sentences"] == 0.5


def test_a_turn_that_is_the_query_is_nearest_to_that():
    found = cosines(exchange(QUERY), Axes(QUERY, RESPONSE))
    assert (found["vector_query"], found["vector_response"], found["vector_closer_to_response"]) == (1, 0, -1)
    assert found["vector_best_gain"] == -1 and found["vector_worst_to_query"] == 1


def test_the_sentences_of_a_turn_are_looked_at_one_by_one():
    turn = "Loosen the roots. Tell me about Rome."
    found = cosines(exchange(turn), Axes(turn, "Loosen the roots.", "Tell me about Rome."))
    assert (found["vector_best_to_response"], found["vector_worst_to_response"]) == (1, 0)


@pytest.mark.parametrize("turn", ["", " ", "?", "x" * 50_000, "Why? " * 500])
def test_any_turn_has_the_same_names_and_few_texts(turn):
    long = exchange(turn, "A sentence of it. " * 300)
    assert len(texts_of(long)) <= 3 + TURN_SENTENCES + 2 * SENTENCES
    assert set(cosines(long, Axes())) == set(cosines(exchange("Why?"), Axes()))
    assert turn_vector(long, Axes()).shape == (1, 1)


def test_components_are_coordinates_about_the_mean_and_survive_json():
    components = Components(mean=(1.0, 0.0), rows=((0.0, 1.0), (1.0, 0.0)))
    assert components.of(np.array([[3.0, 5.0]])) == [{"vector_component_00": 5.0, "vector_component_01": 2.0}]
    assert components.first(1).of(np.array([[3.0, 5.0]])) == [{"vector_component_00": 5.0}]
    assert components.first(0).of(np.array([[3.0, 5.0]])) == [{}]
    assert Components.from_json(json.loads(json.dumps(components.to_json()))) == components
