"""Two fillings of one template are one turn; what differs in its words is another."""

from __future__ import annotations

import pytest

from eval.turn_variety import opening, skeleton, words_of


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Where does the 24 come from?", "where does the 1,003.50 come from"),
        ("Why does Anna pay $5?", "Why does Bert pay $17?"),
        ("Is it twelve or thirty?", "Is it two or 9?"),
        ("What did you do with Miss Lee's 3 hens?", "What did you do with Tom's 12 hens?"),
        ("I'm in Oslo, is that far?", "I'm in Rome, is that far?"),
        ("Why not 50%?", "Why not 7/8?"),
    ],
)
def test_two_fillings_of_one_template_are_one_without_numbers_and_names(one: str, other: str) -> None:
    assert skeleton(one).replace("miss", "").split() == skeleton(other).split()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Why does the pot rot?", "Why does the pot drip?"),
        ("Hens lay eggs. Why?", "Cows give milk. Why?"),
        ("I see. And the roof?", "You see. And the roof?"),
    ],
)
def test_other_words_stay_other_words(one: str, other: str) -> None:
    assert skeleton(one) != skeleton(other)


def test_an_opening_is_the_same_whatever_is_quoted_behind_it() -> None:
    turns = ('What do you mean by "the ship sails"?', 'what do you think of "the ship"?')
    assert [opening(skeleton(turn)) for turn in turns] == ["what do you"] * 2
    assert opening(skeleton("")) == opening(skeleton("42!")) == ""


def test_scripts_without_spaces_are_compared_by_character() -> None:
    assert words_of("\u4f60\u597d 1,000 Caf\u00e9") == ["\u4f60", "\u597d", "1000", "caf\u00e9"]
