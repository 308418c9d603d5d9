from __future__ import annotations

import json
import zlib

import numpy as np
import pytest

from eval.dialogue import Dialogue, Message
from eval.gold import GoldItem
from eval.local_judge import vector_fit
from eval.local_judge.turn_decision import decide
from eval.local_judge.turn_fit import exchange_of
from eval.local_judge.vector_fit import Choice, choose, fit_vectors, principal_components
from eval.local_judge.vector_weigher import VectorWeigher

PLACES = ("Lisbon", "Oslo", "Quito", "Hanoi", "Accra", "Perth", "Turin", "Riga")
TURNS = {
    "Why does it need a coat?": "genuine_followup",
    "Can you explain that more simply?": "generic_followup",
    "Write a poem about a dog.": "new_task_prompt",
    "Thanks a lot!": "acknowledgement",
}


class Letters:
    """The mean of a random vector for each three letters: near texts lie near."""

    digest = "letters"

    def vectors(self, texts):
        found = []
        for text in texts:
            seeds = [zlib.crc32(text[i : i + 3].encode()) for i in range(max(1, len(text) - 2))]
            found.append(np.mean([np.random.default_rng(seed).normal(size=16) for seed in seeds], axis=0))
        return np.array([vector / np.linalg.norm(vector) for vector in found], dtype=np.float32)


def items(places=PLACES) -> list[GoldItem]:
    return [
        GoldItem(
            Dialogue(
                "test",
                (
                    Message("user", f"What should I see in {place}?"),
                    Message("assistant", f"Walk up to the lighthouse of {place} before 9 and bring a coat."),
                    Message("user", turn),
                ),
            ),
            label,
            "followup" in label,
            place,
            "written",
            None,
        )
        for place in places
        for turn, label in TURNS.items()
    ]


@pytest.fixture(scope="module")
def fitted():
    return fit_vectors(items(), Letters())


def test_a_fit_learns_easy_items_and_survives_json(fitted):
    again = VectorWeigher.from_json(json.loads(json.dumps(fitted.to_json())), Letters())
    assert again.model == fitted.model and again.components == fitted.components
    assert [decide(exchange_of(item), again).genuine for item in items()] == [item.genuine for item in items()]
    assert {"vector_response", "taken_share"} <= set(fitted.model.features)
    assert fitted.to_json()["encoder"] == "letters"


def test_the_same_items_give_the_same_weights(fitted):
    assert fit_vectors(items(), Letters()).to_json() == fitted.to_json()


def test_the_components_of_the_model_are_those_it_can_place(fitted):
    named = [name for name in fitted.model.features if name.startswith("vector_component")]
    assert len(named) == len(fitted.components.rows)


def test_components_are_orthogonal_directions_of_the_turns():
    encoded = [vector_fit._encoded(item, Letters()) for item in items()]
    rows = np.array(principal_components(encoded).rows)
    assert np.allclose(rows @ rows.T, np.eye(len(rows)), atol=1e-3)
    assert len(rows) == 16


def test_the_choice_is_made_on_queries_that_its_fits_have_not_seen(monkeypatch):
    real, calls = vector_fit._loss, []

    def spy(seen, made, unseen, components, penalty):
        calls.append(({one.item.context for one in (*seen,)} | {item.context for item in made}, unseen))
        return real(seen, made, unseen, components, penalty)

    monkeypatch.setattr(vector_fit, "_loss", spy)
    made = items(PLACES[:5])
    assert choose([vector_fit._encoded(item, Letters()) for item in items()], made) in vector_fit.CHOICES
    assert len(calls) == vector_fit.INNER_FOLDS * len(vector_fit.CHOICES)
    assert all(not seen & {one.item.context for one in unseen} for seen, unseen in calls)
    assert {one.item.context for _, unseen in calls for one in unseen} == set(PLACES)


def test_the_least_loss_is_chosen(monkeypatch):
    def loss(seen, made, unseen, components, penalty):
        return -1.0 if (len(components.rows), penalty) == (12, 3.0) else 1.0

    monkeypatch.setattr(vector_fit, "_loss", loss)
    assert choose([vector_fit._encoded(item, Letters()) for item in items()], []) == Choice(12, 3.0)
