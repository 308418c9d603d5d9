"""Sampling against the definition of each field: greedy, temperature, top-k, nucleus, and uniform numbers."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest
from scipy.stats import chisquare

from eval.engine import Sampling
from eval.generation.token_sampling import choose

PROBABILITIES = [0.05, 0.4, 0.3, 0.2, 0.05]


def logits(*rows: list[float]) -> Any:
    import torch

    return torch.tensor(rows or [PROBABILITIES], dtype=torch.float64).log().float()


def expected(sampling: Sampling) -> list[float]:
    """The filtered distribution, computed in plain Python: temperature, then top-k, then nucleus."""
    heated = [p ** (1 / sampling.temperature) for p in PROBABILITIES]
    ranked = sorted(range(len(heated)), key=lambda token: -heated[token])[: sampling.top_k or None]
    total, kept, mass = sum(heated[token] for token in ranked), [], 0.0
    for token in ranked:
        kept.append(token)
        mass += heated[token] / total
        if mass >= sampling.top_p - 1e-9:
            break
    share = sum(heated[token] for token in kept)
    return [heated[token] / share if token in kept else 0.0 for token in range(len(heated))]


@pytest.mark.parametrize(
    "fields",
    [{}, {"top_k": 2}, {"top_p": 0.65}, {"top_p": 0.7}, {"top_p": 0.75}, {"top_k": 3, "top_p": 0.5}, {"top_k": 99}],
    ids=str,
)
@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_frequencies_are_those_of_the_filtered_distribution(fields: dict[str, Any], temperature: float) -> None:
    sampling = Sampling(temperature=temperature, **fields)
    count, numbers = 4000, random.Random(0)
    drawn = choose(logits().expand(count, -1), sampling, [numbers.random() for _ in range(count)])
    counts, shares = Counter(drawn), expected(sampling)
    assert set(counts) == {token for token, share in enumerate(shares) if share}
    observed = [counts[token] for token, share in enumerate(shares) if share]
    if len(observed) > 1:
        assert chisquare(observed, [count * share for share in shares if share]).pvalue > 0.001


@pytest.mark.parametrize("uniform", [0.0, 0.5, 1 - 2**-53])
@pytest.mark.parametrize("fields", [{}, {"top_p": 0.7}, {"top_k": 3}], ids=str)
def test_the_ends_of_the_unit_interval_stay_within_the_kept_tokens(uniform: float, fields: dict[str, Any]) -> None:
    sampling = Sampling(temperature=1.0, **fields)
    [token] = choose(logits([0.0, 0.5, 0.3, 0.2, 0.0]), sampling, [uniform])
    assert token in {1, 2, 3}


def test_a_tiny_nucleus_keeps_the_likeliest_token() -> None:
    assert choose(logits(), Sampling(temperature=1.0, top_p=1e-9), [1 - 2**-53]) == [1]


def test_a_nucleus_may_be_wide() -> None:
    import torch

    falling, numbers = -torch.arange(8000.0)[None].expand(500, -1) / 10_000, random.Random(0)
    drawn = choose(falling, Sampling(temperature=1.0, top_p=0.6), [numbers.random() for _ in range(500)])
    # (1 - exp(-n / 10,000)) / (1 - exp(-0.8)) reaches 0.6 at n = 4,011.
    assert 3900 < max(token for token in drawn if token is not None) <= 4011


def test_temperature_zero_takes_the_likeliest_token_and_no_number() -> None:
    assert choose(logits(PROBABILITIES, PROBABILITIES[::-1]), Sampling(temperature=0.0, top_k=1), []) == [1, 3]


@pytest.mark.parametrize("sampling", [Sampling(), Sampling(temperature=1.0), Sampling(temperature=1.0, top_p=0.5)])
def test_a_row_with_non_finite_logits_has_no_token_and_does_not_affect_others(sampling: Sampling) -> None:
    import torch

    rows = logits(*[PROBABILITIES] * 5)
    rows[1, 2], rows[2, 0], rows[3] = float("nan"), float("inf"), float("-inf")
    rows[4] = torch.tensor([float("-inf")] * 4 + [3.0])
    first, *bad, masked = choose(rows, sampling, [0.5] * 5)
    assert bad == [None, None, None]
    assert masked == 4
    assert [first] == choose(logits(), sampling, [0.5])
