"""Replies quote sentences that can stand by themselves, and go on from there."""

from __future__ import annotations

import pytest

from data_gen.scripted.scene import Scene, quotable
from eval.dialogue import Message

RESPONSE = (
    "Sure. These are the steps:\n1. Soak the beans overnight. Drain them well.\n2. Cook them for an hour.\n\nDo you?"
)


def scene() -> Scene:
    return Scene.after([Message("system", "Be brief."), Message("user", "Beans?"), Message("assistant", RESPONSE)])


def test_it_begins_where_the_response_was_read() -> None:
    assert (scene().query, scene().ground) == ("Beans?", RESPONSE)


def test_what_the_response_asks_announces_or_barely_says_is_not_quoted() -> None:
    assert quotable(RESPONSE) == ["Soak the beans overnight.", "Cook them for an hour."]


@pytest.mark.parametrize("response", ["Sip.", "```\nx = 1\n```", "Why?", ""])
def test_of_a_response_without_such_sentences_something_is_quoted(response: str) -> None:
    assert quotable(response)


def test_a_reply_quotes_the_sentence_of_a_facet_and_the_one_behind_it() -> None:
    quotes = scene().quotes({"item": "Soak the beans", "sentence": "Soak the beans overnight. Drain them well."})
    assert quotes == {"sentence": "Soak the beans overnight. Drain them well.", "next": "Cook them for an hour."}
    assert scene().quotes({"sentence": "Soak the beans overnight."})["next"] == "Cook them for an hour."


def test_one_without_a_sentence_goes_on_from_the_last_quoted() -> None:
    here = scene()
    here.quotes({"sentence": "Soak the beans overnight."})
    assert here.quotes({}) == {"sentence": "Cook them for an hour.", "next": "Soak the beans overnight."}


@pytest.mark.parametrize(
    ("sentence", "ended"), [("On the street,", "On the street."), ('"Stop."', '"Stop."'), ("Paint it", "Paint it.")]
)
def test_a_quoted_sentence_ends_once(sentence: str, ended: str) -> None:
    assert scene().quotes({"sentence": sentence})["sentence"] == ended
