"""Occasions are detected in a response, and styles that suit them come first."""

from __future__ import annotations

from collections import Counter

import pytest

from data_gen.occasion import OCCASIONS, occasions
from data_gen.plan import SUITED, Persona, make_plans
from data_gen.style import read_styles, style_names
from eval.dialogue import Dialogue, Message

EXAMPLES = {
    "calculation": ("How many eggs?", "6 * 8 = 48 eggs in all."),
    "list": ("How do I start?", "Do this:\n1. Sort it.\n2. Wash it."),
    "advice": ("It hurts.", "You should rest it, and avoid lifting."),
    "amount": ("How much flour?", "Take 450 g of flour and 300 g of water."),
    "claim": ("Why is the sky blue?", "Blue light is scattered more, because its waves are short."),
    "text": ("Write a poem on fog", "The fog came in, and stayed."),
    "question": ("Hello", "What brings you here?"),
}


@pytest.mark.parametrize("name", OCCASIONS)
def test_each_occasion_is_found(name: str) -> None:
    assert name in occasions(*EXAMPLES[name])


def test_an_empty_response_gives_no_occasion() -> None:
    assert occasions("", "") == frozenset()


def test_every_occasion_has_a_style() -> None:
    suited = {name for style in read_styles(style_names()).values() for name in style.suits}
    assert suited == set(OCCASIONS)


def test_the_first_style_mostly_suits_the_response_and_later_ones_are_any() -> None:
    messages = tuple(Message(role, text) for role, text in zip(("user", "assistant"), EXAMPLES["list"], strict=True))
    styles = read_styles(style_names())
    personas = [Persona("p", "beginner", "g", "I c", "I s")]
    seeds = [Dialogue("t", messages)]
    plans = list(make_plans(2000, seeds, styles, personas, exchanges=(3, 3), plain_endings=0.0, seed=0))
    first = Counter(plan.styles[0] for plan in plans)
    others = sum(style.follows_up and not style.needs_question for style in styles.values())
    assert abs(first["report_back"] / 2000 - (SUITED + (1 - SUITED) / others)) < 0.04
    assert abs(Counter(plan.styles[1] for plan in plans)["report_back"] / 2000 - 1 / others) < 0.04
