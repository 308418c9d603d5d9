"""The weight on accuracy rises while accuracy is low, falls back, and is the same in a resumed run."""

from __future__ import annotations

import pytest

from eval.stats.rates import Rate
from train.accuracy_price import multiplier_after, updated_multiplier
from train.rl_config import AccuracyPrice

PRICE = AccuracyPrice(margin=5, step=0.1, most=2.0)
BEFORE = Rate(50, 100)


def probes(*accuracies: tuple[int, int]) -> list[dict]:
    """Lines of a log, a probe every ten steps and steps between."""
    lines = []
    for number, (step, right) in enumerate(accuracies):
        lines += [{"step": step, "probe": {}, "accuracy": [right, 100]}, {"step": step + 1, "loss": float(number)}]
    return lines


def test_a_fall_within_the_margin_is_free() -> None:
    assert updated_multiplier(0.0, BEFORE, Rate(45, 100), PRICE) == 0.0
    assert updated_multiplier(0.0, BEFORE, Rate(80, 100), PRICE) == 0.0


def test_each_point_beyond_costs_a_step_until_the_most() -> None:
    assert updated_multiplier(0.0, BEFORE, Rate(40, 100), PRICE) == pytest.approx(0.5)
    assert updated_multiplier(0.5, BEFORE, Rate(40, 100), PRICE) == pytest.approx(1.0)
    assert updated_multiplier(1.9, BEFORE, Rate(0, 100), PRICE) == 2.0


def test_it_falls_again_once_accuracy_is_back() -> None:
    assert updated_multiplier(0.7, BEFORE, Rate(48, 100), PRICE) == pytest.approx(0.4)


def test_an_unknown_accuracy_changes_nothing() -> None:
    assert updated_multiplier(0.7, BEFORE, Rate(0, 0), PRICE) == 0.7
    assert updated_multiplier(0.7, Rate(0, 0), BEFORE, PRICE) == 0.7


def test_the_multiplier_of_a_step_is_read_from_the_probes_up_to_it() -> None:
    lines = probes((0, 50), (10, 40), (20, 40), (30, 50))
    assert [multiplier_after(lines, step, PRICE) for step in (0, 9, 10, 20, 30)] == pytest.approx([0, 0, 0.5, 1.0, 0.5])


def test_a_probe_that_was_made_twice_counts_once() -> None:
    lines = probes((0, 50), (10, 30), (10, 40))
    assert multiplier_after(lines, 10, PRICE) == pytest.approx(0.5)
