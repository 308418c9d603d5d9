"""Rates and their intervals. It knows no dialogue and no table: `eval/summary.py` counts, `eval/tables/` prints."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Interval:
    """A confidence interval of a probability; both ends lie in [0, 1]."""

    low: float
    high: float


@dataclass(frozen=True)
class Rate:
    """`successes` of `n` trials. Without trials the rate is unknown: `point` and `interval()` are None."""

    successes: int
    n: int

    def __post_init__(self) -> None:
        if not 0 <= self.successes <= self.n:
            raise ValueError(f"{self.successes} successes of {self.n} trials; successes must lie between 0 and n")

    @property
    def point(self) -> float | None:
        """The observed proportion in [0, 1]; None without trials."""
        return self.successes / self.n if self.n else None

    def interval(self, confidence: float = 0.95) -> Interval | None:
        """The Wilson score interval; None without trials."""
        return wilson(self.successes, self.n, confidence)


def wilson(successes: int, n: int, confidence: float = 0.95) -> Interval | None:
    """The Wilson score interval of a proportion; None when `n` is 0.

    Its coverage is nominal on average over rates, not at each rate. Over rates of 0.5 % to 50 % a nominal 95 % interval
    covers 94 % to 96 % on average at every n from 31 to 1319, and at each single rate with 50 or more expected
    successes. With 5 to 50, it covers 92 % to 98 %; with about one or fewer it can cover much less (85.6 % for n = 31
    at a rate of 0.5 %), because a single success lifts the lower end above the rate. It assumes independent trials and
    is too narrow for repeated contexts, see `eval/stats/clustered.py`.

    Raises:
        ValueError: successes outside [0, n], or confidence outside (0, 1).

    Source: Wilson 1927, https://doi.org/10.1080/01621459.1927.10502953, as computed by statsmodels.
    """
    Rate(successes, n)
    if not 0 < confidence < 1:
        raise ValueError(f"confidence {confidence} must lie between 0 and 1, such as 0.95")
    if n == 0:
        return None
    from statsmodels.stats.proportion import proportion_confint

    low, high = proportion_confint(successes, n, alpha=1 - confidence, method="wilson")
    # At 0 of n and n of n the end is exactly 0 or 1; floating point misses it by about 1e-17, on either side.
    return Interval(0.0 if successes == 0 else float(low), 1.0 if successes == n else float(high))


def same_rate_p(first: Rate, second: Rate) -> float | None:
    """Two-sided p-value of Fisher's exact test of equal rates in two independent samples; None if one has no trials.

    Its type I error is at most its level.

    Source: Fisher 1935, The Logic of Inductive Inference, https://doi.org/10.2307/2342435, by scipy.
    """
    if not first.n or not second.n:
        return None
    from scipy.stats import fisher_exact

    table = [[rate.successes, rate.n - rate.successes] for rate in (first, second)]
    return float(fisher_exact(table).pvalue)
