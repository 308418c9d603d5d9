"""A phrasing chooses among its alternatives and fills its slots; slot values are plain data."""

from __future__ import annotations

import random
import re

import pytest

from data_gen.scripted.facets import KIND_OF_SLOT
from data_gen.scripted.phrasing import Phrasing
from data_gen.style import read_styles, style_names


def draws(template: str, **values: str) -> set[str]:
    """The distinct results of fifty draws."""
    return {Phrasing("p", template).say(values, random.Random(seed)) for seed in range(50)}


def test_alternatives_may_be_nested_and_empty() -> None:
    assert draws("[Oh, [so|then] |]why?") == {"Oh, so why?", "Oh, then why?", "Why?"}


def test_slot_values_are_not_expanded_again() -> None:
    assert draws('why "{clause}"?', clause="[a|b] {term} \\1 {clause}") == {'Why "[a|b] {term} \\1 {clause}"?'}


def test_the_slots_of_every_alternative_count() -> None:
    assert Phrasing("p", "[{term}|{clause}]?").slots == {"term", "clause"}


@pytest.mark.parametrize("name", style_names())
def test_every_phrasing_of_every_style_renders(name: str) -> None:
    scripted = read_styles([name])[name].scripted
    values = {slot: f"<{slot}>" for slot in [*KIND_OF_SLOT, "verdict"]}
    for template in [*scripted.user, *scripted.assistant]:
        for text in draws(template, **values):
            assert not set(text) & set("[]{}|"), text
            assert text == text.strip() and "  " not in text and not re.search(r"\s[.,?!]|[.,?!:]{2}", text), text
            assert text[-1] in ".?!>" or not text[-1].isalnum() or name != "acknowledge", text


@pytest.mark.parametrize("name", style_names())
def test_some_reply_of_every_style_needs_no_more_than_any_facet_gives(name: str) -> None:
    replies = [Phrasing("r", text).slots for text in read_styles([name])[name].scripted.assistant]
    assert any(slots <= {"sentence", "next"} for slots in replies)
