"""The comparison of two sides with the same weights, and with perturbed weights on one or both."""

from __future__ import annotations

import math
from typing import Any

import pytest

from eval.checks.same_weights import (
    ROUNDED,
    TOKENS,
    TOLERANCE,
    Comparison,
    Served,
    compare,
    is_last_norm,
    log_probs,
    mismatch,
    perturbed,
    stale,
    tolerance,
)

IDS = list(range(5, 25))


@pytest.fixture
def model(tiny_model) -> Any:
    from transformers import AutoModelForCausalLM

    return AutoModelForCausalLM.from_pretrained(tiny_model).eval()


def served_by(model: Any) -> Served:
    """The greedy continuation of a model, token by token."""
    import torch

    ids, values = list(IDS), []
    for _ in range(TOKENS):
        with torch.no_grad():
            row = torch.log_softmax(model(torch.tensor([ids])).logits[0, -1], dim=-1)
        ids.append(int(row.argmax()))
        values.append(float(row.max()))
    return Served(tuple(ids[len(IDS) :]), tuple(values))


def test_log_probs_are_those_of_the_tokens_behind_the_text(model) -> None:
    served = served_by(model)
    assert log_probs(model, IDS, served.ids) == pytest.approx(served.log_probs, abs=1e-5)
    assert compare(model, IDS, served).difference < 1e-5 and mismatch(compare(model, IDS, served), TOLERANCE) is None


@pytest.mark.parametrize("value", [math.nan, 0.0, -math.inf])
def test_one_log_prob_that_is_no_number_or_another_is_enough(model, value: float) -> None:
    served = served_by(model)
    spoilt = Served(served.ids, (*served.log_probs[:3], value, *served.log_probs[4:]))
    assert mismatch(compare(model, IDS, spoilt), ROUNDED)


def test_missing_log_probs_are_not_taken_for_agreement(model) -> None:
    with pytest.raises(ValueError, match="longer"):
        compare(model, IDS, Served((1, 2), ()))


@pytest.mark.parametrize(
    ("dtypes", "most"),
    [
        (("float32",), TOLERANCE),
        (("float32", "float32"), TOLERANCE),
        (("float32", "bfloat16"), ROUNDED),
        (("bfloat16",), ROUNDED),
        (("16 bits", "float32"), ROUNDED),
    ],
)
def test_the_coarser_side_says_what_is_allowed(dtypes: tuple[str, ...], most: float) -> None:
    assert tolerance(*dtypes) == most


def test_a_norm_that_is_multiplied_by_one_more_than_its_weights_moves_too() -> None:
    """Qwen3.5's: fresh weights are 0, and a factor alone would leave them there."""
    import torch
    from transformers.models.qwen3_5.modeling_qwen3_5 import Qwen3_5RMSNorm

    norm, inputs = Qwen3_5RMSNorm(8), torch.linspace(-1, 1, 8)[None]
    before = norm(inputs)
    with torch.no_grad():
        norm.weight.copy_(perturbed(norm.weight))
    after = norm(inputs)
    assert (before - after).abs().max() > 0.05 and after.abs().max() < before.abs().max()


def test_moved_weights_are_told_from_those_that_stayed(model) -> None:
    import torch

    before = compare(model, IDS, served_by(model))
    (name,) = [name for name, _ in model.named_parameters() if is_last_norm(name)]
    with torch.no_grad():
        weights = dict(model.named_parameters())[name]
        weights.copy_(perturbed(weights))
    old = compare(model, IDS, before.served)
    assert mismatch(old, TOLERANCE) and stale(before, old)
    fresh = compare(model, IDS, served_by(model))
    assert mismatch(fresh, TOLERANCE) is None and stale(before, fresh) is None


def test_the_difference_is_told_with_what_is_allowed() -> None:
    problem = mismatch(Comparison(Served((1,), (-0.5,)), 0.5), 0.25)
    assert problem == "log-probs of a fixed text differ from transformers' by 0.5, 0.25 is allowed"
