"""The interval of a kappa: contexts stay whole, and where nothing varies there is none."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.rater_agreement import kappa
from eval.stats.kappa_interval import _confusions, _kappas, kappa_interval

CLASSES = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=60)


@given(CLASSES)
def test_the_kappa_of_a_resample_is_cohens(pairs: list[tuple[int, int]]) -> None:
    first, second = zip(*pairs, strict=True)
    whole = _confusions(first, second, range(len(pairs))).sum(axis=0)[None]
    expected = kappa(first, second)
    (found,) = _kappas(whole)
    assert np.isnan(found) if expected is None else found == pytest.approx(expected, abs=1e-9)


def ratings(contexts: int, each: int, seed: int = 0) -> tuple[list[bool], list[bool], list[int]]:
    """Items of a context are alike: right or wrong together."""
    random = np.random.default_rng(seed)
    gold, wrong = random.random(contexts) < 0.4, random.random(contexts) < 0.2
    first = np.repeat(gold, each)
    return (
        first.tolist(),
        np.where(np.repeat(wrong, each), ~first, first).tolist(),
        np.repeat(np.arange(contexts), each).tolist(),
    )


def test_the_interval_holds_the_kappa_and_equal_input_gives_equal_ends() -> None:
    first, second, contexts = ratings(100, 1)
    interval = kappa_interval(first, second, contexts)
    assert interval == kappa_interval(first, second, contexts)
    value = kappa(first, second)
    assert interval and value and interval.low < value < interval.high


def test_copies_within_a_context_are_no_more_evidence() -> None:
    alone, together = kappa_interval(*ratings(100, 1)), kappa_interval(*ratings(100, 5))
    first, second, _ = ratings(100, 5)
    apart = kappa_interval(first, second, range(500))
    assert alone and together and apart
    assert (together.low, together.high) == pytest.approx((alone.low, alone.high), abs=1e-9)
    assert apart.high - apart.low < 0.6 * (together.high - together.low)


@pytest.mark.parametrize(
    ("first", "second", "contexts"),
    [
        ([], [], []),
        ([1, 0], [1, 1], ["a", "a"]),
        ([1] * 9, [1] * 9, range(9)),
        ([1, 0] * 20, [1, 0] * 20, range(40)),
        ([1] * 40, [1, 0] * 20, range(40)),
        ([True] * 19 + [False], [True] * 19 + [False], range(20)),
    ],
)
def test_where_nothing_varies_there_is_no_interval(first: list[int], second: list[int], contexts: list[object]) -> None:
    assert kappa_interval(first, second, contexts) is None


def test_raters_of_different_numbers_are_an_error() -> None:
    with pytest.raises(ValueError, match="2 and 1 ratings, 2 contexts"):
        kappa_interval([1, 2], [1], [1, 2])
