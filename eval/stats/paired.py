"""Two measurements of the same rows: how often they differ, in which direction, and whether that is chance.

It knows yes/no outcomes by row id; `eval/paper/comparison.py` says what a row's outcome is.
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
    """Rows that at least one measurement lacks or does not know; they are in no other count."""

    @classmethod
    def of(cls, rows: Mapping[tuple[bool | None, bool | None], int]) -> Pairs:
        """Of how many rows have each outcome in the first and in the second; None is an unknown one."""
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
        """Two-sided exact McNemar test that both rates are the same; None without pairs.

        It rejects a true hypothesis at most as often as its level says, and less often when few rows differ.

        Source: McNemar 1947, https://doi.org/10.1007/BF02295996, with the binomial distribution, by statsmodels.
        """
        if not self.n:
            return None
        from statsmodels.stats.contingency_tables import mcnemar

        return float(mcnemar([[self.both, self.only_first], [self.only_second, self.neither]], exact=True).pvalue)

    def interval(self, confidence: float = 0.95) -> Interval | None:
        """Interval of `difference`, its ends in [-1, 1]; None without pairs.

        A nominal 95 % covers 94 % to 98 % where at least ten of the pairs are expected to differ, and more where fewer
        are. It and `p_value` may disagree at the edge: the test decides, the interval shows sizes.

        Source: the adjusted Wald interval of Bonett and Price 2012, https://doi.org/10.3102/1076998611411915.
        """
        if not self.n:
            return None
        from scipy.stats import norm

        middle, error = self._adjusted()
        half = norm.ppf((1 + confidence) / 2) * error
        return Interval(max(-1.0, float(middle - half)), min(1.0, float(middle + half)))

    def fell_p(self, margin: float) -> float | None:
        """One-sided p-value of "the rate fell by `margin` (in [0, 1]) or less"; None without pairs.

        Below 0.05, the 90 % `interval` lies below -margin: the rate fell by more. Above 0.95, the interval lies above
        -margin: it fell by less (non-inferiority). At a fall of just `margin`, over 31 to 1319 pairs, margins of 0 to
        10 points and 0 % to 10 % of pairs that rise, the first is said wrongly in at most 5.0 % of samples, the second
        in at most 7 %, but in up to 9.2 % where no pair rises.

        Source: the same adjusted Wald statistic, see `interval`; the percentages are exact sums.
        """
        if not self.n:
            return None
        from scipy.stats import norm

        middle, error = self._adjusted()
        return float(norm.cdf((middle + margin) / error))

    def _adjusted(self) -> tuple[float, float]:
        """The difference and its standard error, with one pair more in each direction."""
        first, second, n = self.only_first + 1, self.only_second + 1, self.n + 2
        middle = (second - first) / n
        return middle, (((first + second) / n - middle**2) / n) ** 0.5


def pair(first: Mapping[str, bool | None], second: Mapping[str, bool | None]) -> Pairs:
    """Match the outcomes of two measurements by row id; None is an unknown outcome."""
    rows = Counter((outcome, second.get(id)) for id, outcome in first.items())
    rows[None, None] += sum(id not in first for id in second)
    return Pairs.of(rows)


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Adjusted p-values over a family of tests, in its order; None, an unknown p-value, stays and counts for nothing.

    Rejecting those below 0.05 makes one false rejection or more with a probability of at most 5 %, however the tests
    depend on each other.

    Source: Holm 1979, https://www.jstor.org/stable/4615733, as computed by statsmodels.
    """
    known = [p for p in p_values if p is not None]
    if not known:
        return list(p_values)
    from statsmodels.stats.multitest import multipletests

    adjusted = iter(multipletests(known, method="holm")[1])
    return [None if p is None else float(next(adjusted)) for p in p_values]
