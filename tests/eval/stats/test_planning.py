"""Plans against statsmodels, brute force, and simulation: at the planned n the test sees the difference as promised."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multinomial
from statsmodels.stats.proportion import power_proportions_2indep

from eval.stats.paired import Pairs
from eval.stats.planning import half_width, independent_discordance, pairs_power, rows_for_pairs, rows_for_two_samples
from eval.stats.rates import wilson


@pytest.mark.parametrize(("k", "n"), [(0, 93), (3, 300), (161, 428), (829, 1319)])
def test_half_width_is_that_of_the_interval(k: int, n: int) -> None:
    interval = wilson(k, n)
    assert interval is not None
    assert half_width(k / n, n) == pytest.approx((interval.high - interval.low) / 2)


def test_half_widths_of_the_paper_s_tables() -> None:
    assert round(100 * half_width(0.629, 1319), 1) == 2.6
    assert round(100 * half_width(0.48, 300), 1) == 5.6
    assert round(100 * half_width(0.46, 198), 1) == 6.9


def test_two_samples_by_hand() -> None:
    # (1.96 * sqrt(2 * .55 * .45) + .8416 * sqrt(.5 * .5 + .6 * .4))**2 / .1**2 = 387.3
    assert rows_for_two_samples(0.5, 0.1) == 388


@pytest.mark.parametrize(("base", "difference"), [(0.01, 0.05), (0.5, 0.05), (0.2, -0.1), (0.367, 0.177)])
def test_two_samples_have_the_power_of_statsmodels(base: float, difference: float) -> None:
    n = rows_for_two_samples(base, difference, power=0.9)
    assert power_proportions_2indep(difference, base, n).power == pytest.approx(0.9, abs=0.01)


def test_two_samples_by_simulation() -> None:
    n, rng = rows_for_two_samples(0.1, 0.1), np.random.default_rng(0)
    first, second = rng.binomial(n, 0.1, 20_000) / n, rng.binomial(n, 0.2, 20_000) / n
    pooled = (first + second) / 2
    seen = abs(second - first) / np.sqrt(2 * pooled * (1 - pooled) / n) > 1.959964
    assert seen.mean() == pytest.approx(0.8, abs=0.02)


def brute_power(n: int, difference: float, discordant: float, alpha: float) -> float:
    """Sum over every outcome of n pairs that the test rejects."""
    up, down = (discordant + difference) / 2, (discordant - difference) / 2
    return sum(
        multinomial.pmf([second, first, n - first - second], n, [up, down, 1 - discordant])
        for second in range(n + 1)
        for first in range(n + 1 - second)
        if (Pairs(0, first, second, n - first - second).p_value or 0.0) <= alpha
    )


@pytest.mark.parametrize(
    ("n", "difference", "discordant", "alpha"),
    [(25, 0.3, 0.5, 0.05), (25, 0.0, 0.3, 0.05), (20, 0.4, 0.4, 0.01), (3, 0.5, 0.5, 0.05), (18, -0.2, 0.6, 0.1)],
)
def test_power_of_pairs_is_exact(n: int, difference: float, discordant: float, alpha: float) -> None:
    assert pairs_power(n, difference, discordant, alpha) == pytest.approx(
        brute_power(n, difference, discordant, alpha), abs=1e-9
    )


@pytest.mark.parametrize(
    ("base", "difference", "discordant"), [(0.01, 0.05, None), (0.01, 0.05, 0.05), (0.5, -0.1, 0.2), (0.01, 0.4, None)]
)
def test_pairs_reach_their_power_and_not_much_earlier(base: float, difference: float, discordant: float | None) -> None:
    n = rows_for_pairs(base, difference, discordant)
    share = independent_discordance(base, difference) if discordant is None else discordant
    assert pairs_power(n, difference, share) >= 0.8
    assert all(pairs_power(n + more, difference, share) >= 0.8 for more in range(n // 20))
    assert pairs_power(int(0.9 * n) - 1, difference, share) < 0.8


def test_runs_that_agree_more_need_fewer_rows() -> None:
    assert rows_for_pairs(0.4, 0.1, 0.15) < rows_for_pairs(0.4, 0.1, 0.3) < rows_for_pairs(0.4, 0.1)


def test_independent_outcomes_differ_by_chance() -> None:
    assert independent_discordance(0.5, 0.0) == 0.5
    assert independent_discordance(0.1, 0.1) == pytest.approx(0.1 * 0.8 + 0.9 * 0.2)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((0.5, 0.0), "difference is 0"),
        ((0.5, 0.6), "outside 0 to 1"),
        ((50, 5), "base 50 must lie between 0 and 1; 5 points are 0.05"),
        ((0.1, 0.1, 1.0), "power 1"),
        ((0.1, 0.1, 0.8, 0.0), "alpha 0"),
    ],
)
def test_impossible_questions_are_refused(arguments: tuple[float, ...], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        rows_for_two_samples(*arguments)


@pytest.mark.parametrize("discordant", [0.04, 0.3, 0.99])
def test_impossible_discordance_is_refused_with_its_range(discordant: float) -> None:
    with pytest.raises(ValueError, match=r"must lie between 0\.05 and 0\.07"):
        rows_for_pairs(0.01, 0.05, discordant)


def test_a_difference_out_of_reach_is_said_so() -> None:
    with pytest.raises(ValueError, match="more than 1000000 rows"):
        rows_for_pairs(0.5, 0.0005)
