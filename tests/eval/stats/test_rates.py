"""Intervals against hand-computed values, against statsmodels, and by their exact coverage."""

from __future__ import annotations

import math
import subprocess
import sys
from functools import cache

import numpy as np
import pytest
from scipy.stats import binom, hypergeom
from statsmodels.stats.proportion import proportion_confint

from eval.stats.rates import Interval, Rate, same_rate_p, wilson


def by_hand(k: int, n: int, z: float = 1.959963984540054) -> tuple[float, float]:
    """Wilson's formula, written out."""
    p, shrink = k / n, 1 + z * z / n
    middle = (p + z * z / (2 * n)) / shrink
    half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / shrink
    return middle - half, middle + half


@pytest.mark.parametrize(("k", "n"), [(0, 1), (1, 1), (3, 300), (4, 198), (18, 93), (829, 1319), (999_999, 1_000_000)])
def test_wilson_equals_the_formula_and_statsmodels(k: int, n: int) -> None:
    interval = wilson(k, n)
    assert interval is not None
    assert (interval.low, interval.high) == pytest.approx(by_hand(k, n), abs=1e-12)
    assert (interval.low, interval.high) == pytest.approx(proportion_confint(k, n, method="wilson"), abs=1e-12)


def test_textbook_value() -> None:
    interval = wilson(10, 20)
    assert interval is not None
    assert round(interval.low, 4) == 0.2993
    assert round(interval.high, 4) == 0.7007


@pytest.mark.parametrize("n", [1, 2, 7, 30, 93, 198, 300, 1319, 10**6])
def test_extremes_are_exact_and_leave_room_on_the_other_side(n: int) -> None:
    none, every = wilson(0, n), wilson(n, n)
    assert none is not None and every is not None
    z2 = 1.959963984540054**2
    assert none.low == 0.0
    assert none.high == pytest.approx(z2 / (n + z2), abs=1e-12)
    assert every.high == 1.0
    assert every.low == pytest.approx(n / (n + z2), abs=1e-12)


def test_confidence_widens_the_interval() -> None:
    narrow, wide = wilson(5, 50, 0.8), wilson(5, 50, 0.99)
    assert narrow is not None and wide is not None
    assert wide.low < narrow.low < 0.1 < narrow.high < wide.high


def test_a_rate_of_nothing_is_unknown() -> None:
    assert wilson(0, 0) is None
    assert Rate(0, 0).point is None
    assert Rate(0, 0).interval() is None


def test_rate_gives_its_point_and_interval() -> None:
    assert Rate(3, 12).point == 0.25
    assert Rate(3, 12).interval() == wilson(3, 12)
    assert isinstance(Rate(3, 12).interval(0.9), Interval)


@pytest.mark.parametrize(("k", "n"), [(-1, 3), (4, 3), (1, 0), (0, -1)])
def test_impossible_counts_are_refused(k: int, n: int) -> None:
    with pytest.raises(ValueError, match="between 0 and n"):
        wilson(k, n)


@pytest.mark.parametrize("confidence", [0.0, 1.0, 95])
def test_confidence_must_be_a_probability(confidence: float) -> None:
    with pytest.raises(ValueError, match=r"such as 0\.95"):
        wilson(1, 2, confidence)


@cache
def ends(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper ends of the 95 % intervals of 0 to n successes."""
    intervals = [wilson(k, n) for k in range(n + 1)]
    return np.array([i.low for i in intervals if i]), np.array([i.high for i in intervals if i])


def coverage(rate: float, n: int) -> float:
    """The exact probability that the 95 % interval of n trials at `rate` holds `rate`."""
    low, high = ends(n)
    return float(binom.pmf(np.arange(n + 1), n, rate)[(low <= rate) & (rate <= high)].sum())


@pytest.mark.parametrize(("rate", "n"), [(0.1, 93), (0.367, 93), (0.5, 31), (0.02, 300), (0.1, 198), (0.46, 198)])
def test_coverage_is_near_its_level_where_successes_are_expected(rate: float, n: int) -> None:
    assert 0.92 <= coverage(rate, n) <= 0.98


def test_coverage_holds_on_average_over_rates() -> None:
    rates = [(i + 0.5) / 200 for i in range(200)]
    assert sum(coverage(rate, 31) for rate in rates) / 200 == pytest.approx(0.95, abs=0.01)


SIZES = (31, 93, 198, 300, 448, 541, 1319)


@pytest.mark.parametrize("n", SIZES)
def test_coverage_over_the_rates_of_the_paper_is_at_its_level(n: int) -> None:
    evenly = [0.005 + 0.495 * i / 99 for i in range(100)]
    by_ratio = [0.005 * 100 ** (i / 99) for i in range(100)]
    for rates in (evenly, by_ratio):
        assert 0.94 <= sum(coverage(rate, n) for rate in rates) / 100 <= 0.96


@pytest.mark.parametrize(("rate", "n"), [(r, n) for n in SIZES for r in (0.02, 0.05, 0.1, 0.2, 0.367, 0.5)])
def test_coverage_at_one_rate_depends_on_the_expected_successes(rate: float, n: int) -> None:
    if rate * n >= 50:
        assert 0.94 <= coverage(rate, n) <= 0.96
    elif rate * n >= 5:
        assert 0.92 <= coverage(rate, n) <= 0.98


@pytest.mark.parametrize(("rate", "n"), [(0.02, 300), (0.1, 198), (0.367, 93), (0.5, 1319)])
def test_simulated_coverage_is_the_exact_one(rate: float, n: int) -> None:
    found = [wilson(int(k), n) for k in binom.rvs(n, rate, size=2000, random_state=n)]
    covered = sum(i is not None and i.low <= rate <= i.high for i in found) / 2000
    assert covered == pytest.approx(coverage(rate, n), abs=0.02)


def test_coverage_falls_short_at_rare_events_as_the_docstring_says() -> None:
    assert round(coverage(0.005, 31), 3) == 0.856


@pytest.mark.parametrize(("first", "second"), [((3, 10), (9, 12)), ((144, 300), (120, 300)), ((0, 5), (5, 5))])
def test_two_samples_of_one_rate_by_the_hypergeometric_sum(first: tuple[int, int], second: tuple[int, int]) -> None:
    """All tables with these margins that are no more likely than the observed one."""
    (a, n), (b, m) = first, second
    chances = hypergeom.pmf(np.arange(n + 1), n + m, a + b, n)
    expected = chances[chances <= chances[a] * (1 + 1e-9)].sum()
    assert same_rate_p(Rate(a, n), Rate(b, m)) == pytest.approx(expected)


def test_two_samples_of_which_one_is_empty_are_not_compared() -> None:
    assert same_rate_p(Rate(0, 0), Rate(3, 10)) is same_rate_p(Rate(3, 10), Rate(0, 0)) is None


def test_importing_stats_is_light() -> None:
    code = "import sys, eval.stats.rates; print([m for m in ('statsmodels', 'scipy', 'pandas') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
