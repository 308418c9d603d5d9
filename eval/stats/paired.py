"""Paired comparison of two measurements of the same rows: counts, difference, interval and tests.

It knows binary outcomes by row id; `eval/paper/comparison.py` defines the outcome of a row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from eval.stats.rates import Interval


@dataclass(frozen=True)
class Pairs:
    """The rows of two measurements by their outcome in each; `first` and `second` are the measurements."""

    both: int
    only_first: int
    only_second: int
    neither: int
    left_out: int = 0
    """Rows without a known outcome in both measurements; they are in no other count."""

    @classmethod
    def of(cls, rows: Mapping[tuple[bool | None, bool | None], int]) -> Pairs:
        """From the number of rows per (first outcome, second outcome); None is an unknown outcome."""
        both, only_first, only_second, neither = (
            rows.get((first, second), 0) for first in (True, False) for second in (True, False)
        )
        known = both + only_first + only_second + neither
        return cls(both, only_first, only_second, neither, left_out=sum(rows.values()) - known)

    @property
    def n(self) -> int:
        """Rows with a known outcome in both."""
        return self.both + self.only_first + self.only_second + self.neither

    @property
    def difference(self) -> float | None:
        """Rate of the second minus rate of the first, in [-1, 1]; None without pairs."""
        return (self.only_second - self.only_first) / self.n if self.n else None

    @property
    def p_value(self) -> float | None:
        """Two-sided exact McNemar test that both rates are equal; None without pairs.

        Its type I error is at most its level, and below it when few rows differ.

        Source: McNemar 1947, https://doi.org/10.1007/BF02295996, with the binomial distribution, by statsmodels.
        """
        if not self.n:
            return None
        from statsmodels.stats.contingency_tables import mcnemar

        return float(mcnemar([[self.both, self.only_first], [self.only_second, self.neither]], exact=True).pvalue)

    def interval(self, confidence: float = 0.95) -> Interval | None:
        """Interval of `difference`, its ends in [-1, 1]; None without pairs.

        A nominal 95 % interval covers 94 % to 98 % if at least ten pairs are expected to differ, and more with fewer.
        It and `p_value` may disagree near the level: rely on the test for significance, on the interval for size.

        Source: the adjusted Wald interval of Bonett and Price 2012, https://doi.org/10.3102/1076998611411915.
        """
        if not self.n:
            return None
        from scipy.stats import norm

        middle, error = self._adjusted()
        half = norm.ppf((1 + confidence) / 2) * error
        return Interval(max(-1.0, float(middle - half)), min(1.0, float(middle + half)))

    def fell_p(self, margin: float) -> float | None:
        """One-sided p-value of the hypothesis that the rate fell by at most `margin`, in [0, 1]; None without pairs.

        Below 0.05, the 90 % `interval` lies below -margin: the rate fell by more. Above 0.95, the interval lies above
        -margin: it fell by less (non-inferiority). At a true fall of exactly `margin`, over 31 to 1319 pairs, margins
        of 0 to 10 points and 0 % to 10 % of pairs that rise, the first error rate is at most 5.0 % and the second at
        most 7 %, but up to 9.2 % if no pair rises.

        Source: the same adjusted Wald statistic, see `interval`; the percentages are exact sums.
        """
        if not self.n:
            return None
        from scipy.stats import norm

        middle, error = self._adjusted()
        return float(norm.cdf((middle + margin) / error))

    def _adjusted(self) -> tuple[float, float]:
        """The difference and its standard error, with one pair added in each direction."""
        first, second, n = self.only_first + 1, self.only_second + 1, self.n + 2
        middle = (second - first) / n
        return middle, (((first + second) / n - middle**2) / n) ** 0.5


def pair(first: Mapping[str, bool | None], second: Mapping[str, bool | None]) -> Pairs:
    """Match the outcomes of two measurements by row id; None is an unknown outcome."""
    rows = Counter((outcome, second.get(id)) for id, outcome in first.items())
    rows[None, None] += sum(id not in first for id in second)
    return Pairs.of(rows)


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm-adjusted p-values of a family of tests, in order; an unknown p-value (None) stays None and is not counted.

    Rejecting those below 0.05 keeps the family-wise error rate at or below 5 %, however the tests depend on each other.

    Source: Holm 1979, https://www.jstor.org/stable/4615733, as computed by statsmodels.
    """
    known = [p for p in p_values if p is not None]
    if not known:
        return list(p_values)
    from statsmodels.stats.multitest import multipletests

    adjusted = iter(multipletests(known, method="holm")[1])
    return [None if p is None else float(next(adjusted)) for p in p_values]
