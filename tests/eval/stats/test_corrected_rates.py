"""Corrected rates: worked examples, identities, what is unknown, and coverage over judges and true rates."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.stats.corrected_rates import (
    LabelledRow,
    Share,
    prediction_powered,
    rogan_gladen,
    sensitivity,
    specificity,
)
from eval.stats.rates import Rate, wilson

COUNT = st.integers(0, 40)


def test_rogan_and_gladen_by_hand() -> None:
    estimate = rogan_gladen(Rate(30, 100), Share(0.8, 200), Share(0.9, 200))
    assert estimate.point == pytest.approx((0.3 + 0.9 - 1) / 0.7)
    assert estimate.interval and estimate.interval.low < 0.2857 < estimate.interval.high and not estimate.clipped


def test_a_judge_without_error_leaves_the_rate_and_its_interval_nearly_as_they_are() -> None:
    estimate, own = rogan_gladen(Rate(60, 200), Share(1.0, 1e9), Share(1.0, 1e9)), wilson(60, 200)
    assert own and estimate.interval and estimate.point == pytest.approx(0.3)
    assert estimate.interval.low == pytest.approx(own.low, abs=0.002)
    assert estimate.interval.high == pytest.approx(own.high, abs=0.002)


def test_the_judges_error_widens_the_interval() -> None:
    few, many = (rogan_gladen(Rate(60, 200), Share(0.8, n), Share(0.9, n)) for n in (40, 4000))
    assert few.interval and many.interval
    assert few.interval.high - few.interval.low > 1.3 * (many.interval.high - many.interval.low)


def test_a_rate_below_the_false_alarms_is_clipped_and_says_so() -> None:
    estimate = rogan_gladen(Rate(2, 100), Share(0.8, 200), Share(0.9, 200))
    assert estimate.point == 0.0 and estimate.clipped and estimate.interval and estimate.interval.low == 0.0


@pytest.mark.parametrize(
    ("observed", "yes", "no", "why"),
    [
        (Rate(3, 10), Share(0.5, 100), Share(0.5, 100), "add up to 1 or less"),
        (Rate(3, 10), Share(0.2, 100), Share(0.6, 100), "add up to 1 or less"),
        (Rate(3, 10), None, Share(0.9, 100), "no labelled item is genuine"),
        (Rate(3, 10), Share(0.9, 100), None, "no labelled item is not genuine"),
        (Rate(0, 0), Share(0.9, 100), Share(0.9, 100), "no judged row"),
        (Rate(3, 10), Share(0.0, 0.5), Share(1.0, 0.5), "add up to 1 or less"),
    ],
)
def test_what_cannot_be_told_is_none_with_its_reason(
    observed: Rate, yes: Share | None, no: Share | None, why: str
) -> None:
    estimate = rogan_gladen(observed, yes, no)
    assert (estimate.point, estimate.interval) == (None, None) and why in estimate.why


def test_items_of_one_context_count_for_fewer() -> None:
    hits, even = [True] * 60 + [False] * 20, [1.0] * 80
    alone, together = Share.of(hits, even, range(80)), Share.of(hits, even, [item // 4 for item in range(80)])
    assert alone and together and alone.point == together.point == 0.75
    assert alone.n == pytest.approx(80) and together.n == pytest.approx(20, abs=1)
    assert Share.of([True] * 80, even, [item // 4 for item in range(80)]) == Share(1.0, 20), "nothing varies"
    assert Share.of([], [], []) is None


def test_a_sample_that_prefers_one_answer_is_weighted_back() -> None:
    """Of 1,000 rows the judge says yes to 100; 50 of each answer are labelled. Unweighted, its sensitivity doubles."""
    said_yes = [LabelledRow(True, place < 40, place, 2.0) for place in range(50)]
    said_no = [LabelledRow(False, place < 5, -1 - place, 18.0) for place in range(50)]
    rows = [*said_yes, *said_no]
    found, rest = sensitivity(rows), specificity(rows)
    assert found and found.point == pytest.approx(80 / (80 + 90))
    assert rest and rest.point == pytest.approx(810 / (810 + 20))
    assert found.n < 45, "uneven weights count for fewer"
    assert prediction_powered(rows, Rate(100, 1000)).point == pytest.approx(0.17)
    bare = sensitivity([LabelledRow(row.judge, row.label, row.context) for row in rows])
    assert bare and bare.point == pytest.approx(40 / 45)


def rows_of(both: int, judge: int, label: int, neither: int) -> list[LabelledRow]:
    kinds = [(True, True)] * both + [(True, False)] * judge + [(False, True)] * label + [(False, False)] * neither
    return [LabelledRow(*said, place) for place, said in enumerate(kinds)]


@given(COUNT, COUNT, COUNT, COUNT, COUNT, COUNT)
def test_the_prediction_powered_point_is_that_of_ppi_plus_plus(
    both: int, judge: int, label: int, neither: int, more_yes: int, more_no: int
) -> None:
    labelled = rows_of(both, judge, label, neither)
    estimate = prediction_powered(labelled, Rate(both + judge + more_yes, len(labelled) + more_yes + more_no))
    if not labelled:
        assert estimate.point is None and estimate.why == "no labelled row"
        return
    y = np.array([1] * both + [0] * judge + [1] * label + [0] * neither, float)
    f = np.array([1] * (both + judge) + [0] * (label + neither), float)
    rest = np.array([1] * more_yes + [0] * more_no, float)
    tuned = np.cov(y, f, bias=True)[0, 1] / f.var() / (1 + len(y) / len(rest)) if f.var() and len(rest) else 0.0
    expected = tuned * (rest.mean() if len(rest) else 0.0) + (y - tuned * f).mean()
    assert estimate.point == pytest.approx(expected, abs=1e-12)
    assert estimate.interval and 0 <= estimate.interval.low <= estimate.point <= estimate.interval.high <= 1


def test_labels_of_all_rows_are_the_rate_itself() -> None:
    estimate = prediction_powered(rows_of(30, 20, 10, 140), Rate(50, 200))
    own = wilson(40, 200)
    assert estimate.point == pytest.approx(0.2) and own and estimate.interval
    assert estimate.interval.low == pytest.approx(own.low, abs=0.02)
    assert estimate.interval.high == pytest.approx(own.high, abs=0.02)


def test_a_good_judge_shortens_the_interval_and_a_useless_one_does_not_lengthen_it() -> None:
    widths = []
    for labelled in (rows_of(28, 2, 2, 68), rows_of(9, 21, 21, 49)):
        interval = prediction_powered(labelled, Rate(300, 1000)).interval
        assert interval
        widths.append(interval.high - interval.low)
    alone = wilson(30, 100)
    assert alone and widths[0] < 0.7 * (alone.high - alone.low)
    assert widths[1] == pytest.approx(alone.high - alone.low, rel=0.08)


def test_a_judge_of_one_answer_leaves_the_labels_mean() -> None:
    estimate, own = prediction_powered(rows_of(0, 0, 3, 47), Rate(0, 500)), wilson(3, 50)
    assert own and estimate.interval and estimate.point == pytest.approx(0.06)
    assert (estimate.interval.low, estimate.interval.high) == pytest.approx((own.low, own.high))


def test_more_labels_than_rows_are_refused() -> None:
    with pytest.raises(ValueError, match="3 of them judged yes, are not a sample of"):
        prediction_powered(rows_of(3, 0, 0, 5), Rate(2, 100))


@pytest.fixture(scope="module")
def simulation(repository: Path) -> dict[str, Any]:
    return runpy.run_path(str(repository / "benchmarks" / "interval_coverage.py"))


@pytest.mark.parametrize("judge", [(0.6, 0.8, 0.02, 300), (0.8, 0.9, 0.1, 93), (0.95, 0.99, 0.3, 198)])
def test_the_intervals_hold_the_true_rate_about_as_often_as_they_say(
    simulation: dict[str, Any], judge: tuple[float, float, float, int]
) -> None:
    """All judges and rates: `python benchmarks/interval_coverage.py`. Below 92 % of 400 draws is one in 500."""
    found = simulation["coverage"](simulation["Judge"](*judge), repeats=400)
    for name in ("Rogan-Gladen", "prediction-powered"):
        share, _, unknown = found[name]
        assert share >= 0.92 and unknown == 0, (name, found)
    if judge[:2] == (0.6, 0.8):
        assert found["raw"][0] < 0.5
