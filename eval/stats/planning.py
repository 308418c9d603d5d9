"""Sample sizes: power of the tests that `eval/` reports, and widths of its intervals."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

LARGEST = 1_000_000
"""Rows beyond which planning gives up."""


def half_width(rate: float, n: int, confidence: float = 0.95) -> float:
    """Half the width of the Wilson interval of `rate` over `n` rows; all in [0, 1]."""
    _check_probability("rate", rate, closed=True)
    if n < 1:
        raise ValueError(f"n is {n}; an interval needs at least one row")
    from statsmodels.stats.proportion import proportion_confint

    low, high = proportion_confint(rate * n, n, alpha=1 - confidence, method="wilson")
    return float(high - low) / 2


def rows_for_two_samples(base: float, difference: float, power: float = 0.8, alpha: float = 0.05) -> int:
    """Rows in **each** of two independent samples so that the two-sided z-test of their rates has `power`.

    The normal approximation is good if both samples expect at least five successes and failures; otherwise the result
    is only a guide. For runs on the same rows use `rows_for_pairs`.

    Raises:
        ValueError: a number outside (0, 1), a difference of zero, or a second rate outside [0, 1].

    Source: Fleiss, Levin and Paik 2003, section 4.2, as computed by statsmodels.
    """
    _check(base, difference, power, alpha)
    from statsmodels.stats.proportion import samplesize_proportions_2indep_onetail

    size = samplesize_proportions_2indep_onetail(difference, base, power, alpha=alpha, alternative="two-sided")
    return max(2, math.ceil(float(size)))


def independent_discordance(base: float, difference: float) -> float:
    """The share of rows whose outcome differs between two runs, if the outcomes of a row were independent."""
    return base * (1 - base - difference) + (1 - base) * (base + difference)


def pairs_power(n: int, difference: float, discordant: float, alpha: float = 0.05) -> float:
    """The exact probability that the exact McNemar test of `n` pairs rejects at `alpha`.

    Args:
        difference: second rate minus first, in [-1, 1].
        discordant: share of pairs whose two outcomes differ, at least the size of the difference.
    """
    import numpy as np
    from scipy.stats import binom

    counts = np.arange(n + 1)
    chance = binom.pmf(counts, n, discordant)
    counts, chance = counts[chance > 1e-12], chance[chance > 1e-12]
    upward = (discordant + difference) / (2 * discordant)
    # The largest count in the smaller direction that still rejects; -1 where not even zero does.
    edge = binom.ppf(alpha / 2, counts, 0.5)
    edge = np.where(2 * binom.cdf(edge, counts, 0.5) <= alpha, edge, edge - 1)
    rejected = binom.cdf(edge, counts, upward) + binom.cdf(edge, counts, 1 - upward)
    return float((chance * np.where(edge < 0, 0.0, rejected)).sum())


def rows_for_pairs(
    base: float, difference: float, discordant: float | None = None, power: float = 0.8, alpha: float = 0.05
) -> int:
    """Rows that both runs must have so that the exact McNemar test has `power`.

    The power of an exact test is not monotone in the number of rows. It is at least `power` at the result and at every
    checked larger number of rows (up to 5 % more).

    Args:
        discordant: share of rows whose outcome differs between the runs. None: as if outcomes were independent, the
            conservative choice; runs that agree more need fewer rows.

    Raises:
        ValueError: a number outside its range, or more than a million rows needed.
    """
    _check(base, difference, power, alpha)
    share = independent_discordance(base, difference) if discordant is None else discordant
    most = min(2 * base + difference, 2 - 2 * base - difference)
    if not abs(difference) <= share <= most + 1e-12:
        raise ValueError(
            f"discordant is {share:g}; with rates {base:g} and {base + difference:g} it must lie between "
            f"{abs(difference):g} and {most:g}"
        )

    @cache
    def enough(n: int) -> bool:
        return pairs_power(n, difference, share, alpha) >= power

    n = _first(enough)
    while dips := [m for m in _sample(n, math.ceil(1.05 * n)) if not enough(m)]:
        n = dips[-1] + 1
    return n


def _first(enough: Callable[[int], bool]) -> int:
    """A small n that is enough, found by doubling, then bisection."""
    high = 2
    while not enough(high):
        high *= 2
        if high > LARGEST:
            raise ValueError(f"more than {LARGEST} rows are needed; ask for a larger difference or less power")
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _sample(low: int, high: int) -> range:
    """About a hundred evenly spaced numbers of rows from `low` to `high`."""
    return range(low, high + 1, max(1, (high - low) // 100))


def _check(base: float, difference: float, power: float, alpha: float) -> None:
    _check_probability("base", base, closed=True)
    _check_probability("power", power)
    _check_probability("alpha", alpha)
    if difference == 0:
        raise ValueError("difference is 0; no number of rows shows that two rates are equal")
    if not 0 <= base + difference <= 1:
        raise ValueError(f"base {base:g} with difference {difference:g} gives a rate outside 0 to 1")


def _check_probability(name: str, value: float, closed: bool = False) -> None:
    if not (0 <= value <= 1 if closed else 0 < value < 1):
        raise ValueError(f"{name} {value:g} must lie between 0 and 1; 5 points are 0.05")
