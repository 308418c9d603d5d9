"""McNemar and Holm against hand-computed values and a second program; the interval by its exact coverage."""

from __future__ import annotations

import math
import random
from statistics import NormalDist

import pytest
from scipy.stats import binomtest, multinomial

from eval.stats.paired import Pairs, holm, pair


def test_mcnemar_by_hand() -> None:
    # Ten rows differ, one of them against: 2 * (C(10,0) + C(10,1)) / 2**10.
    pairs = Pairs(both=3, only_first=1, only_second=9, neither=4)
    assert pairs.n == 17
    assert pairs.p_value == pytest.approx(2 * 11 / 1024)
    assert pairs.difference == pytest.approx(8 / 17)


@pytest.mark.parametrize("seed", range(20))
def test_mcnemar_equals_a_binomial_test_of_the_rows_that_differ(seed: int) -> None:
    rng = random.Random(seed)
    only_first, only_second = rng.randint(0, 40), rng.randint(1, 40)
    expected = binomtest(only_first, only_first + only_second).pvalue
    assert Pairs(5, only_first, only_second, 7).p_value == pytest.approx(expected)


def test_rows_that_agree_show_no_difference() -> None:
    pairs = Pairs(both=3, only_first=0, only_second=0, neither=4)
    assert pairs.p_value == 1.0
    assert pairs.difference == 0.0


def test_nothing_paired_is_unknown() -> None:
    pairs = Pairs(0, 0, 0, 0, left_out=5)
    assert pairs.p_value is pairs.difference is pairs.interval() is None


def test_pairing_matches_by_id_and_leaves_out_what_is_unknown() -> None:
    first = {"a": True, "b": True, "c": False, "d": False, "e": None, "f": True, "only_first": True}
    second = {"d": False, "c": True, "b": False, "a": True, "e": True, "f": None, "only_second": None}
    assert pair(first, second) == Pairs(both=1, only_first=1, only_second=1, neither=1, left_out=4)
    assert pair({}, {}) == Pairs(0, 0, 0, 0)


def test_the_interval_by_hand() -> None:
    interval = Pairs(both=3, only_first=1, only_second=9, neither=4).interval()
    assert interval is not None
    middle = (10 - 2) / 19
    half = 1.959963984540054 * math.sqrt((12 / 19 - middle**2) / 19)
    assert (interval.low, interval.high) == pytest.approx((middle - half, middle + half))


def coverage(n: int, up: float, down: float) -> float:
    """The exact probability that the 95 % interval of n pairs holds the difference."""
    covered = 0.0
    for second in range(n + 1):
        for first in range(n + 1 - second):
            chance = multinomial.pmf([second, first, n - first - second], n, [up, down, 1 - up - down])
            if chance > 1e-9:
                interval = Pairs(0, first, second, n - first - second).interval()
                assert interval is not None
                covered += chance * (interval.low <= up - down <= interval.high)
    return covered


@pytest.mark.parametrize(("n", "up", "down"), [(93, 0.1, 0.1), (60, 0.3, 0.1), (93, 0.2, 0.01), (60, 0.2, 0.0)])
def test_the_interval_covers_its_level_where_pairs_differ(n: int, up: float, down: float) -> None:
    assert 0.94 <= coverage(n, up, down) <= 0.98


def test_the_interval_is_careful_where_few_pairs_differ() -> None:
    assert coverage(93, 0.02, 0.02) > 0.98


def test_how_far_it_fell_by_hand() -> None:
    # (10 - 2) / 19 falls back to the middle of the interval; its normal tail at a margin of 5 points.
    pairs = Pairs(both=3, only_first=9, only_second=1, neither=4)
    middle, error = -8 / 19, math.sqrt((12 / 19 - (8 / 19) ** 2) / 19)
    assert pairs.fell_p(0.05) == pytest.approx(NormalDist().cdf((middle + 0.05) / error))
    assert Pairs(0, 0, 0, 0).fell_p(0.05) is None
    assert Pairs(5, 2, 2, 5).fell_p(0.0) == 0.5


@pytest.mark.parametrize("margin", [0.0, 0.02, 0.1])
def test_a_fall_is_shown_where_the_interval_says_so(margin: float) -> None:
    for first in range(0, 40, 3):
        pairs = Pairs(both=60 - first, only_first=first, only_second=3, neither=20)
        interval, p = pairs.interval(0.90), pairs.fell_p(margin)
        assert interval is not None and p is not None
        assert (p < 0.05) == (interval.high < -margin) and (p > 0.95) == (interval.low > -margin)


@pytest.mark.parametrize(("n", "margin", "up"), [(93, 0.0, 0.1), (60, 0.05, 0.0), (93, 0.1, 0.01)])
def test_a_model_that_is_as_good_as_allowed_is_rarely_called_worse(n: int, margin: float, up: float) -> None:
    called_worse = called_within = 0.0
    for second in range(n + 1):
        for first in range(n + 1 - second):
            chance = multinomial.pmf([second, first, n - first - second], n, [up, up + margin, 1 - 2 * up - margin])
            if chance > 1e-9:
                p = Pairs(0, first, second, n - first - second).fell_p(margin)
                assert p is not None
                called_worse += chance * (p < 0.05)
                called_within += chance * (p > 0.95)
    assert called_worse <= 0.05 and called_within <= 0.072


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.6, 0.6]) == [1.0, 1.0]


def test_an_unknown_p_value_is_no_test() -> None:
    assert holm([None, 0.01, None, 0.04]) == pytest.approx([None, 0.02, None, 0.04])
    assert holm([None]) == [None]
    assert holm([]) == []


@pytest.mark.parametrize("seed", range(5))
def test_holm_equals_its_definition(seed: int) -> None:
    rng = random.Random(seed)
    family = [rng.random() ** 4 for _ in range(8)]
    steps = [(8 - rank) * p for rank, p in enumerate(sorted(family))]
    expected = [min(1.0, max(steps[: sorted(family).index(p) + 1])) for p in family]
    assert holm(family) == pytest.approx(expected)
