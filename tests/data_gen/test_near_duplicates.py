"""Conversations with nearly the same user turns are found; responses do not matter."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from data_gen.near_duplicates import NearDuplicates, word_trigrams

Make = Callable[..., Any]
LONG = "Why does the pot rot when it stands in water for a day or two, while a swamp fern does not seem to mind at all?"


def test_the_same_words_are_a_duplicate_of_the_first(make_conversation: Make) -> None:
    seen = NearDuplicates(0.8)
    assert seen.check(make_conversation(LONG, "So.", number=3)) is None
    reason = seen.check(make_conversation(LONG.upper(), "Something else altogether.", number=4))
    assert reason is not None and reason.name == "near_duplicate"
    assert reason.detail == "of plan 3: Jaccard similarity 1.00"


@pytest.mark.parametrize(("threshold", "found"), [(0.7, True), (0.95, True), (0.97, False)])
def test_one_extra_word_is_compared_with_the_threshold(make_conversation: Make, threshold: float, found: bool) -> None:
    seen = NearDuplicates(threshold)
    seen.check(make_conversation(LONG, "So.", number=0))
    assert bool(seen.check(make_conversation(f"Hm. {LONG}", "So.", number=1))) is found


def test_other_words_are_not_a_duplicate(make_conversation: Make) -> None:
    seen = NearDuplicates(0.8)
    turns = ["Thanks!", "Thank you!", "Why 200 ml?", "Why 300 ml of it?", LONG]
    assert [seen.check(make_conversation(text, "So.", number=n)) for n, text in enumerate(turns)] == [None] * 5


def test_a_duplicate_that_is_dropped_hides_nothing(make_conversation: Make) -> None:
    seen = NearDuplicates(0.8)
    seen.check(make_conversation(LONG, "So.", number=0))
    seen.check(make_conversation(LONG, "So.", number=1))
    reason = seen.check(make_conversation(LONG, "So.", number=2))
    assert reason is not None and reason.detail.startswith("of plan 0")


@pytest.mark.parametrize("threshold", [0.3, 0.6, 0.8, 1.0])
def test_recall_is_close_to_that_of_an_exhaustive_comparison(make_conversation: Make, threshold: float) -> None:
    draw = random.Random(2)
    words = LONG.split()
    texts = []
    for _ in range(150):
        start = draw.randrange(8)
        text = words[start : start + draw.randrange(8, 18)]
        text[draw.randrange(len(text))] = draw.choice(words)
        texts.append(" ".join(text))
    seen = NearDuplicates(threshold)
    kept: list[set[str]] = []
    missed = found = 0
    for number, text in enumerate(texts):
        grams = word_trigrams([text])
        near = any(len(grams & other) / len(grams | other) >= threshold for other in kept)
        reason = seen.check(make_conversation(text, "So.", number=number))
        assert near or reason is None, "what is said to be near is near"
        found += reason is not None
        missed += near and reason is None
        if reason is None:
            kept.append(grams)
    assert found > 0 and missed <= 0.03 * (found + missed)


def test_trigrams_stay_within_a_turn() -> None:
    assert word_trigrams(["One two", "three four five six"]) == {"one two", "three four five", "four five six"}
