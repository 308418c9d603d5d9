"""Confidence intervals for rows that are not independent, because several rows share a context (cluster bootstrap).

It knows counts per context, no dialogue; for rows that each have their own context, Wilson intervals suffice.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from eval.stats.rates import Interval, wilson

if TYPE_CHECKING:
    import numpy as np

RESAMPLES = 2000
AT_ONCE = 250_000
"""Contexts processed at a time, to bound memory."""


def clustered_interval(
    successes: Sequence[Sequence[int]] | np.ndarray,
    trials: Sequence[Sequence[int]] | np.ndarray,
    confidence: float = 0.95,
    seed: int = 0,
) -> Interval | None:
    """Interval of the mean of M rates over the same C contexts, by resampling contexts. Deterministic given `seed`.

    Where no resample can vary, as when no row succeeds or every row does, it is the Wilson interval of C trials, as
    wide as if each context held a single row. In simulations with a correlation of 0.4 within contexts, a nominal 95 %
    interval covered 92 % to 98 % at 31 to 300 contexts and rates of 1 % to 37 %; Wilson's covered 79 % to 95 %.

    Args:
        successes: (M, C) successful rows of each measurement in each context.
        trials: (M, C) rows; 0 where a measurement has no row in a context.

    Returns:
        None if a rate has no trials, or if there is only one context, so that the variance is unknown.

    Raises:
        ValueError: the shapes differ, or successes lie outside [0, trials].

    Source: the bias-corrected and accelerated bootstrap, Efron 1987, by scipy; resampling clusters: Davison and
    Hinkley 1997, section 3.8.
    """
    import numpy as np
    from scipy.stats import bootstrap

    hits, rows = np.asarray(successes), np.asarray(trials)
    if hits.shape != rows.shape or hits.ndim != 2:
        raise ValueError(f"successes have the shape {hits.shape}, trials {rows.shape}; both must be (M, C)")
    if ((hits < 0) | (hits > rows)).any():
        raise ValueError("a context has more successes than trials, or fewer than none")
    contexts = rows.shape[1]
    if contexts < 2 or not rows.sum(axis=1).all():
        return None
    if not hits.any() or (hits == rows).all():
        return wilson(contexts if hits.any() else 0, contexts, confidence)

    kinds, hits, rows = _kinds(hits, rows)
    resampled = bootstrap(
        (kinds,),
        partial(_mean_rates, hits, rows),
        n_resamples=RESAMPLES,
        batch=max(1, AT_ONCE // contexts),
        method="percentile",
        rng=np.random.default_rng(seed),
    ).bootstrap_distribution
    if not np.ptp(resampled):
        return wilson(round(float(resampled[0]) * contexts), contexts, confidence)
    low, high = _accelerated_ends(resampled, kinds, hits, rows, confidence)
    return Interval(max(0.0, low), min(1.0, high))


def _kinds(hits: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The kind of each context, (C,), and the counts of each kind, (M, K): contexts of a kind have equal counts.

    There are few kinds, so what depends only on the counts is computed per kind, not per context.
    """
    import numpy as np

    counts, contexts = np.concatenate([hits, rows]), hits.shape[1]
    numbers: dict[tuple[int, ...], int] = {}
    kinds = np.empty(contexts, np.int32)
    for start in range(0, contexts, AT_ONCE):
        different, which = np.unique(counts[:, start : start + AT_ONCE], axis=1, return_inverse=True)
        known = [numbers.setdefault(tuple(column), len(numbers)) for column in different.T.tolist()]
        kinds[start : start + AT_ONCE] = np.array(known)[which]
    of_kind = np.array(list(numbers), dtype=float).T
    return kinds, of_kind[: len(hits)], of_kind[len(hits) :]


def _accelerated_ends(
    resampled: np.ndarray, kinds: np.ndarray, hits: np.ndarray, rows: np.ndarray, confidence: float
) -> tuple[float, float]:
    """The ends of the bias-corrected and accelerated interval, in time linear in the number of contexts.

    scipy's own jackknife is quadratic and takes hours for 100,000 contexts.
    """
    import numpy as np
    from scipy.special import ndtr, ndtri

    times = np.bincount(kinds)
    all_hits, all_rows = hits @ times, rows @ times
    point = (all_hits / all_rows).mean()
    with np.errstate(invalid="ignore"):
        without = (all_hits[:, None] - hits) / (all_rows[:, None] - rows)
    left_out = np.nanmean(without, axis=0)
    deviations = left_out[kinds].mean() - left_out
    acceleration = (deviations**3)[kinds].sum() / (6 * (deviations**2)[kinds].sum() ** 1.5)
    bias = ndtri(((resampled < point).mean() + (resampled <= point).mean()) / 2)
    shifted = bias + ndtri([(1 - confidence) / 2, (1 + confidence) / 2])
    low, high = np.quantile(resampled, ndtr(bias + shifted / (1 - acceleration * shifted)))
    return float(low), float(high)


def _mean_rates(hits: np.ndarray, rows: np.ndarray, drawn: np.ndarray, axis: int = -1) -> np.ndarray:
    """The mean of the M rates over each resample, whose C contexts have the kinds `drawn` along its last axis.

    Counting how often each kind was drawn is far faster than gathering the counts of every context.
    """
    import numpy as np

    kinds = rows.shape[1]
    resamples = drawn.reshape(-1, drawn.shape[axis])
    numbered = resamples + kinds * np.arange(len(resamples))[:, None]
    times = np.bincount(numbered.ravel(), minlength=len(resamples) * kinds).reshape(-1, kinds)
    with np.errstate(invalid="ignore"):  # a resample may miss every row of a measurement
        rates = (times @ hits.T) / (times @ rows.T)
    return np.nanmean(rates, axis=-1).reshape(drawn.shape[:-1])
