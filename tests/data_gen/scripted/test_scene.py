"""Replies quote sentences that can be quoted on their own, and continue from the last one quoted."""

from __future__ import annotations

import pytest

from data_gen.scripted.scene import Scene, quotable
from eval.dialogue import Message

RESPONSE = (
    "Sure. These are the steps:\n1. Soak the beans overnight. Drain them well.\n2. Cook them for an hour.\n\nDo you?"
)


def scene() -> Scene:
    return Scene.after([Message("system", "Be brief."), Message("user", "Beans?"), Message("assistant", RESPONSE)])


def test_a_scene_starts_after_the_last_response() -> None:
    assert (scene().query, scene().ground) == ("Beans?", RESPONSE)


def test_questions_lead_ins_and_very_short_sentences_are_not_quoted() -> None:
    assert quotable(RESPONSE) == ["Soak the beans overnight.", "Cook them for an hour."]


@pytest.mark.parametrize("response", ["Sip.", "```\nx = 1\n```", "Why?", ""])
def test_a_response_without_quotable_sentences_is_quoted_anyway(response: str) -> None:
    assert quotable(response)


def test_a_reply_quotes_the_sentence_of_a_facet_and_the_next_one() -> None:
    quotes = scene().quotes({"item": "Soak the beans", "sentence": "Soak the beans overnight. Drain them well."})
    assert quotes == {"sentence": "Soak the beans overnight. Drain them well.", "next": "Cook them for an hour."}
    assert scene().quotes({"sentence": "Soak the beans overnight."})["next"] == "Cook them for an hour."


def test_without_a_facet_a_reply_continues_from_the_last_quoted_sentence() -> None:
    here = scene()
    here.quotes({"sentence": "Soak the beans overnight."})
    assert here.quotes({}) == {"sentence": "Cook them for an hour.", "next": "Soak the beans overnight."}


@pytest.mark.parametrize(
    ("sentence", "ended"), [("On the street,", "On the street."), ('"Stop."', '"Stop."'), ("Paint it", "Paint it.")]
)
def test_a_quoted_sentence_ends_once(sentence: str, ended: str) -> None:
    assert scene().quotes({"sentence": sentence})["sentence"] == ended
