"""Diversity measures: known values, and templates distinguished from questions."""

from __future__ import annotations

import math
from dataclasses import fields

from data_gen.diversity import Diversity, distinct, entropy, measure, nearest_overlaps, percentile


def test_distinct_runs_of_words() -> None:
    texts = [["why", "is", "that"], ["why", "is", "this"]]
    assert distinct(texts, 1) == 4 / 6
    assert distinct(texts, 2) == 3 / 4
    assert distinct(texts, 3) == 1.0
    assert distinct(texts, 4) is None


def test_the_nearest_other_turn_counts() -> None:
    turns = ["one two three four", "one two three five", "seven eight nine", "one two three four"]
    assert nearest_overlaps(turns) == [1.0, 1 / 3, 0.0, 1.0]
    assert nearest_overlaps(["alone"]) == [0.0]


def test_entropy_in_bits_and_of_its_maximum() -> None:
    assert entropy({"a": 5, "b": 5, "c": 5, "d": 5}) == (2.0, 1.0)
    bits, evenness = entropy({"a": 3, "b": 1})
    assert bits is not None and math.isclose(bits, 0.8112781244591328) and evenness == bits
    assert entropy({"a": 7}) == (0.0, 0.0)
    assert entropy({}) == (None, None)


def test_a_percentile_is_a_value_of_the_list() -> None:
    values = [float(n) for n in range(1, 11)]
    assert (percentile(values, 0.9), percentile(values, 1.0), percentile([], 0.9)) == (9.0, 10.0, None)


def test_templates_are_distinguished_from_questions() -> None:
    template = [f"Where does the {n} in the line with {n + 1} come from?" for n in range(30)]
    things = [
        "fern",
        "pot",
        "root",
        "leaf",
        "can",
        "tap",
        "rain",
        "frost",
        "moss",
        "soil",
        "sand",
        "clay",
        "worm",
        "seed",
    ]
    deeds = ["rot", "drip", "sink", "float", "crack", "bend", "grow"]
    questions = [
        f"Would the {thing} {deeds[n % 7]} if its {things[n - 5]} met {things[n - 9]}?"
        for n, thing in enumerate(things)
    ]
    one, many = measure(template, ["t"] * 30), measure(questions, [f"q{n}" for n in range(14)])
    assert one.different_turns == 1 / 30 and many.different_turns == 1.0
    assert one.distinct_2 < many.distinct_2 and one.nearest_mean > many.nearest_mean
    assert (one.template_bits, many.template_evenness) == (0.0, 1.0)


def test_measures_of_no_turns_are_none() -> None:
    nothing = measure([])
    assert nothing.turns == 0
    assert all(getattr(nothing, field.name) is None for field in fields(Diversity) if field.name != "turns")
