"""The clustered bootstrap: by simulation, against plain scipy, and where nothing can be resampled."""

from __future__ import annotations

import subprocess
import sys
from functools import partial

import numpy as np
import pytest
from scipy.stats import bootstrap

from eval.stats import clustered
from eval.stats.clustered import RESAMPLES, _accelerated_ends, _kinds, _mean_rates, clustered_interval
from eval.stats.rates import wilson


def clusters(rate: float, contexts: int, size: int, correlation: float, rng: np.random.Generator) -> np.ndarray:
    """Successes of `size` rows in each context, beta-binomial."""
    spread = (1 - correlation) / correlation
    return rng.binomial(size, rng.beta(rate * spread, (1 - rate) * spread, contexts))


@pytest.mark.parametrize(
    ("rate", "contexts", "size"), [(0.3, 31, 3), (0.1, 93, 4), (0.37, 93, 4), (0.05, 198, 3), (0.01, 300, 4)]
)
def test_it_covers_its_level_where_wilson_does_not(rate: float, contexts: int, size: int) -> None:
    rng = np.random.default_rng(1)
    covered = naive = 0
    for _ in range(300):
        hits = clusters(rate, contexts, size, 0.4, rng)
        ours, plain = clustered_interval([hits], [[size] * contexts]), wilson(int(hits.sum()), size * contexts)
        assert ours is not None and plain is not None
        covered += ours.low <= rate <= ours.high
        naive += plain.low <= rate <= plain.high
    assert 0.91 <= covered / 300 <= 0.99, "92 % to 98 %, and what 300 simulations can miss"
    assert naive / 300 <= 0.9


def test_rows_of_their_own_contexts_give_about_wilson() -> None:
    hits = [1] * 40 + [0] * 160
    ours, plain = clustered_interval([hits], [[1] * 200]), wilson(40, 200)
    assert ours is not None and plain is not None
    assert (ours.low, ours.high) == pytest.approx((plain.low, plain.high), abs=0.01)


def test_it_equals_scipy_s_bootstrap_of_pairs() -> None:
    rng = np.random.default_rng(2)
    hits, sizes = clusters(0.3, 60, 5, 0.4, rng), np.full(60, 5)
    direct = bootstrap(
        (hits.astype(float), sizes.astype(float)),
        lambda hit, size, axis: hit.sum(axis) / size.sum(axis),
        paired=True,
        n_resamples=RESAMPLES,
        method="BCa",
        rng=np.random.default_rng(7),
    ).confidence_interval
    ours = clustered_interval([hits], [sizes], seed=7)
    assert ours is not None
    assert (ours.low, ours.high) == pytest.approx((direct.low, direct.high), abs=0.01)


@pytest.mark.parametrize("contexts", [5, 40, 400])
def test_its_ends_are_scipy_s_on_the_same_resamples(contexts: int) -> None:
    rng = np.random.default_rng(contexts)
    hits, rows = clusters(0.2, contexts, 4, 0.4, rng)[None].astype(float), np.full((1, contexts), 4.0)
    hits[0, 0] = 1
    kinds, hits, rows = _kinds(hits, rows)
    direct = bootstrap((kinds,), partial(_mean_rates, hits, rows), n_resamples=RESAMPLES, method="BCa", rng=rng)
    ends = _accelerated_ends(direct.bootstrap_distribution, kinds, hits, rows, 0.95)
    assert ends == pytest.approx(tuple(direct.confidence_interval), abs=1e-12)


@pytest.mark.parametrize("at_once", [1, 7, 1000])
def test_contexts_of_a_kind_have_equal_counts(monkeypatch: pytest.MonkeyPatch, at_once: int) -> None:
    monkeypatch.setattr(clustered, "AT_ONCE", at_once)
    rng = np.random.default_rng(3)
    rows = rng.integers(0, 4, (2, 200))
    hits = rng.binomial(rows, 0.5)
    kinds, hits_of_kind, rows_of_kind = _kinds(hits, rows)
    assert (hits_of_kind[:, kinds] == hits).all() and (rows_of_kind[:, kinds] == rows).all()
    assert len(set(zip(*hits_of_kind, *rows_of_kind, strict=True))) == rows_of_kind.shape[1] == kinds.max() + 1


def test_twenty_thousand_contexts_are_possible() -> None:
    hits = [1, 0, 0, 0] * 5_000
    ours, plain = clustered_interval([hits], [[1] * 20_000]), wilson(5_000, 20_000)
    assert ours is not None and plain is not None
    assert (ours.low, ours.high) == pytest.approx((plain.low, plain.high), abs=5e-4)


def test_the_mean_of_runs_on_shared_contexts_is_no_narrower_for_their_number() -> None:
    hits = [1] * 20 + [0] * 80
    one, four = clustered_interval([hits], [[1] * 100]), clustered_interval([hits] * 4, [[1] * 100] * 4)
    assert one is not None and four is not None
    assert (four.low, four.high) == pytest.approx((one.low, one.high), abs=1e-12)


def test_a_seed_fixes_the_ends() -> None:
    sizes = [[1, 2, 3, 5, 7] * 12]
    hits = [[size // 2 + (place % 3 == 0) for place, size in enumerate(sizes[0])]]
    assert clustered_interval(hits, sizes) == clustered_interval(hits, sizes)
    assert clustered_interval(hits, sizes, seed=1) != clustered_interval(hits, sizes, seed=2)


def test_what_cannot_vary_is_as_wide_as_its_contexts() -> None:
    assert clustered_interval([[0] * 50], [[4] * 50]) == wilson(0, 50)
    assert clustered_interval([[4] * 50], [[4] * 50]) == wilson(50, 50)
    assert clustered_interval([[1] * 50], [[4] * 50]) == wilson(12, 50), "every context is alike"


def test_too_little_is_unknown() -> None:
    assert clustered_interval([[1]], [[2]]) is None
    assert clustered_interval([[0, 0]], [[0, 0]]) is None
    assert clustered_interval([[1, 0], [0, 0]], [[1, 1], [0, 0]]) is None


def test_a_context_that_a_run_lacks_counts_for_the_others() -> None:
    ours = clustered_interval([[1, 0, 1, 0] * 10, [0, 0, 1, 0] * 10], [[1, 1, 1, 1] * 10, [0, 1, 1, 1] * 10])
    assert ours is not None
    assert ours.low < (0.5 + 1 / 3) / 2 < ours.high


@pytest.mark.parametrize(
    ("hits", "sizes", "says"),
    [([[2, 0]], [[1, 1]], "more successes than trials"), ([[1]], [[1, 1]], "shape"), ([1, 0], [1, 1], r"\(M, C\)")],
)
def test_impossible_counts_are_refused(hits, sizes, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        clustered_interval(hits, sizes)


def test_importing_it_is_light() -> None:
    modules = "eval.stats.clustered, eval.stats.paired, eval.stats.planning"
    code = f"import sys, {modules}; print({{'scipy', 'numpy'}} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"
