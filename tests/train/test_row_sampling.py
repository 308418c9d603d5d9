"""A row's tokens depend only on its logits and its seed."""

from __future__ import annotations

import pytest
import torch

from eval.config import ConfigError
from train.row_sampling import RowSampling, sample_by_row


def drawn(scores: torch.Tensor, seeds: list[int], temperature: float = 1.0, steps: int = 1) -> list[list[int]]:
    sampling = RowSampling(seeds, temperature)
    return torch.stack([sampling(None, scores).argmax(dim=-1) for _ in range(steps)], dim=1).tolist()


def test_one_token_is_left_and_it_is_certain() -> None:
    left = RowSampling([1, 2], 0.7)(None, torch.randn(2, 9, generator=torch.Generator().manual_seed(0)))
    assert left.softmax(dim=-1).max(dim=-1).values.tolist() == [1.0, 1.0]
    assert (left.isfinite().sum(dim=-1) == 1).all()


def test_a_row_draws_the_same_alone_and_beside_others() -> None:
    scores = torch.randn(4, 50, generator=torch.Generator().manual_seed(1))
    together = drawn(scores, [5, 6, 7, 8], steps=20)
    assert [drawn(scores[row : row + 1], [5 + row], steps=20)[0] for row in range(4)] == together
    assert len({tuple(row) for row in together}) == 4


def test_tokens_come_as_often_as_their_share_at_that_temperature() -> None:
    logits = torch.tensor([[0.0, 1.0, 2.0]])
    counts = torch.zeros(3)
    for (token,) in drawn(logits.expand(4000, 3), list(range(4000)), temperature=2.0):
        counts[token] += 1
    assert (counts / 4000).tolist() == pytest.approx((logits[0] / 2).softmax(dim=-1).tolist(), abs=0.03)


def test_logits_that_are_no_numbers_stop_the_run() -> None:
    with pytest.raises(ConfigError, match="not finite"):
        drawn(torch.tensor([[0.0, float("nan")]]), [1])


def test_generate_is_seeded_inside_and_as_before_after() -> None:
    class Model:
        def generate(self, **kwargs):
            return kwargs

    model = Model()
    with sample_by_row(model, [1], 1.0):
        (processor,) = model.generate(max_new_tokens=3)["logits_processor"]
    assert isinstance(processor, RowSampling)
    assert model.generate(max_new_tokens=3) == {"max_new_tokens": 3}
    assert "generate" not in vars(model)
