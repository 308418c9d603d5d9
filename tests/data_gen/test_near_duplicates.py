"""Conversations whose user says nearly the same are found, by what the user says alone."""

from __future__ import annotations

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


@pytest.mark.parametrize(("threshold", "found"), [(0.7, True), (0.95, False)])
def test_one_word_more_is_as_similar_as_the_threshold_says(
    make_conversation: Make, threshold: float, found: bool
) -> None:
    seen = NearDuplicates(threshold)
    seen.check(make_conversation(LONG, "So.", number=0))
    assert bool(seen.check(make_conversation(f"Hm. {LONG}", "So.", number=1))) is found


def test_other_words_are_no_duplicate(make_conversation: Make) -> None:
    seen = NearDuplicates(0.8)
    turns = ["Thanks!", "Thank you!", "Why 200 ml?", "Why 300 ml of it?", LONG]
    assert [seen.check(make_conversation(text, "So.", number=n)) for n, text in enumerate(turns)] == [None] * 5


def test_a_duplicate_that_is_dropped_hides_nothing(make_conversation: Make) -> None:
    seen = NearDuplicates(0.8)
    seen.check(make_conversation(LONG, "So.", number=0))
    seen.check(make_conversation(LONG, "So.", number=1))
    reason = seen.check(make_conversation(LONG, "So.", number=2))
    assert reason is not None and reason.detail.startswith("of plan 0")


def test_trigrams_stay_within_a_turn() -> None:
    assert word_trigrams(["One two", "three four five six"]) == {"one two", "three four five", "four five six"}
