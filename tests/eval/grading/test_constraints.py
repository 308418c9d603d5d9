"""Edge cases of the constraint checkers."""

from __future__ import annotations

from typing import Any

import pytest

from eval.grading.constraints import CHECKERS, satisfies, words

CASES: dict[str, tuple[Any, list[str], list[str]]] = {
    "max_words": (3, ["one two three", "well-known, don't stop"], ["one two three four"]),
    "min_words": (3, ["one two three four", "one two three"], ["one two", "- . !"]),
    "sentences": (2, ["One. Two!", 'He said "stop." Then 3.5 km on foot.'], ["One.", "One. Two. Three?"]),
    "paragraphs": (2, ["a\nb\n\nc", "a\n \n\nb"], ["a\nb", "a\n\nb\n\nc"]),
    "lines": (2, ["a\n\nb"], ["a", "a\nb\nc"]),
    "bullets": (2, ["- a\n* b\ntext", "\u2022 a\n  - b"], ["- a", "- a\n- b\n- c", "-a\n-b"]),
    "numbered_items": (2, ["1. a\n2) b"], ["1. a", "1.a\n2.b"]),
    "starts_with": ("Dear", ["Dear Ann"], ["dear Ann", "My Dear"]),
    "ends_with": ("Bye", ["So: Bye"], ["Bye now", "bye"]),
    "includes": (["tea", "14 May"], ["Tea on 14 May."], ["team on 14 May", "tea on 14 Mayday", "tea"]),
    "excludes": (["tea"], ["a team of steady coffee drinkers"], ["No Tea!"]),
    "without_characters": ("e,", ["A dog barks"], ["Every dog", "a, b"]),
    "lower_case": (True, ["all low 1."], ["One Up"]),
    "upper_case": (True, ["ALL UP 1."], ["ALL Up"]),
    "json_keys": (
        ["a", "b"],
        ['{"b": 1, "a": [2]}'],
        ['{"a": 1}', '{"a":1,"b":2,"c":3}', '["a", "b"]', "a, b", "[" * 99_999],
    ),
    "matches_line": (r"\d+ kg", ["1 kg\n22 kg"], ["1 kg\nabout 2 kg"]),
    "count_of": ({"word": "cat", "count": 2}, ["Cat and cat, not catalogue"], ["cat", "cat cat cat"]),
}


def test_every_kind_has_cases() -> None:
    assert set(CASES) == set(CHECKERS)


@pytest.mark.parametrize("kind", CASES)
def test_a_checker_accepts_and_refuses(kind: str) -> None:
    value, good, bad = CASES[kind]
    constraint = [{"kind": kind, "value": value}]
    assert [text for text in good if not satisfies(text, constraint)] == []
    assert [text for text in bad if satisfies(text, constraint)] == []


@pytest.mark.parametrize("kind", CASES)
def test_an_empty_response_meets_no_constraint(kind: str) -> None:
    assert satisfies(" \n", [{"kind": kind, "value": CASES[kind][0]}]) is False


def test_every_constraint_must_hold_and_surrounding_white_space_is_ignored() -> None:
    both = [{"kind": "max_words", "value": 2}, {"kind": "ends_with", "value": "!"}]
    assert satisfies("  Go on!\n", both) is True
    assert satisfies("Go on now!", both) is False
    assert satisfies("Go on", both) is False


def test_an_unknown_kind_lists_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"unknown constraint 'rhymes'; known are bullets, count_of"):
        satisfies("x", [{"kind": "rhymes", "value": True}])


def test_a_word_keeps_its_apostrophe_and_hyphen() -> None:
    assert words("Don't \u2013 well-known r\u00e9sum\u00e9s, 3 _x_") == [
        "don't",
        "well-known",
        "r\u00e9sum\u00e9s",
        "3",
        "x",
    ]
