"""Judges against each other: what is counted in which slice, and what is undefined."""

from __future__ import annotations

import pytest

from eval.dialogue import Failure, Judgement
from eval.panel_agreement import PairAgreement, RatedPanel, compare_judges, split_count

LATE = Failure("judge", "deadline")


def panel(**answers: str) -> RatedPanel:
    """Judges by what each says of the rows, a letter each: g and s genuine, n and r not, - a failure."""
    said = {
        "g": ("genuine_followup", True),
        "s": ("generic_followup", True),
        "n": ("new_task_prompt", False),
        "r": ("previous_turn_restate", False),
    }
    results = {
        judge: tuple(Judgement(*said[letter], judge) if letter in said else LATE for letter in letters)
        for judge, letters in answers.items()
    }
    n = len(next(iter(answers.values())))
    return RatedPanel(tuple(map(str, range(n))), tuple(str(row // 2) for row in range(n)), results)


def found(panel: RatedPanel) -> dict[tuple[str, str, str], PairAgreement]:
    return {(pair.slice, *pair.judges): pair for pair in compare_judges(panel)}


def test_a_pair_on_the_full_panel_by_hand() -> None:
    pair = found(panel(a="ggggnnnnnn" * 4, b="gsnnnnnnng" * 4))["full panel", "a", "b"]
    assert (pair.total, pair.n) == (40, 40)
    assert (pair.yes[0].successes, pair.yes[1].successes) == (16, 12)
    assert pair.genuine.rate.point == pytest.approx(0.7)
    assert pair.genuine.kappa == pytest.approx((0.7 - 0.54) / 0.46)
    assert pair.label.rate.point == pytest.approx(0.6)
    assert pair.genuine.interval and pair.genuine.interval.low < 0.7 < pair.genuine.interval.high
    assert pair.genuine.kappa_interval is not None


def test_unjudged_rows_are_counted_and_in_no_figure() -> None:
    pairs = found(panel(a="gg-gnnnnnn", b="gn-nnnn-nn"))
    full = pairs["full panel", "a", "b"]
    assert (full.total, full.n, full.genuine.rate.n) == (10, 8, 8)
    balanced = pairs["balanced", "a", "b"]
    assert balanced.total == 6, "the row that the first judge has not judged is in no drawn slice"


def test_two_raters_who_say_one_thing_have_no_kappa_and_one_such_rater_has_0() -> None:
    pairs = found(panel(a="n" * 12, b="n" * 12, c="ngngngnngnnn"))
    alike, one = pairs["full panel", "a", "b"], pairs["full panel", "a", "c"]
    assert (alike.genuine.kappa, alike.genuine.rate.point) == (None, 1.0)
    assert (one.genuine.kappa, one.genuine.kappa_interval) == (0.0, None)
    empty = pairs["balanced", "a", "b"]
    assert (empty.total, empty.genuine.rate.point, empty.genuine.kappa) == (0, None, None)


def test_kap01_agreement_on_the_majority_is_below_chance() -> None:
    pair = found(panel(a="g" * 18 + "ng", b="g" * 18 + "gn"))["full panel", "a", "b"]
    assert pair.genuine.rate.point == pytest.approx(0.9) and pair.genuine.kappa == pytest.approx(-0.053, abs=5e-4)


def test_the_rows_that_judges_split_on_are_a_slice_for_three() -> None:
    three = panel(a="ggggnnnn", b="gggnnnnn", c="ggnnnnng")
    pairs = found(three)
    assert split_count(three) == 3
    assert (pairs["split", "a", "b"].genuine.rate.point, pairs["split", "a", "b"].n) == (pytest.approx(2 / 3), 3)
    assert not any(slice == "split" for slice, *_ in found(panel(a="gn", b="ng")))
