"""Sampling within `transformers.generate` in which each row draws from its own random stream.

A row's tokens depend only on its logits and its seed, not on the other rows of the batch, the process, or what was
generated before. Knows no trainer.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from eval.config import ConfigError
from eval.engine import Sampling
from eval.generation.token_sampling import sample

if TYPE_CHECKING:
    from torch import Tensor


class RowSampling:
    """A transformers logits processor that samples a token for each row and leaves only that token possible."""

    def __init__(self, seeds: Sequence[int], temperature: float) -> None:
        self._streams = [random.Random(seed) for seed in seeds]
        self._sampling = Sampling(temperature=temperature)

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        """Scores (rows, vocabulary): 0 for the sampled token, -inf for any other.

        Raises:
            ConfigError: a row's logits are not finite.
        """
        import torch

        if not scores.max(dim=-1).values.isfinite().all():
            raise ConfigError("the policy's logits are not finite; lower trl.learning_rate")
        drawn = sample(scores, self._sampling, [stream.random() for stream in self._streams])
        return torch.full_like(scores, float("-inf")).scatter_(1, drawn[:, None], 0.0)


@contextmanager
def sample_by_row(model: Any, seeds: Sequence[int], temperature: float) -> Iterator[None]:
    """Within this context, every call of `model.generate` samples row i from a stream seeded with `seeds[i]`."""
    generate = model.generate

    def seeded(*args: Any, **kwargs: Any) -> Any:
        return generate(*args, logits_processor=[RowSampling(seeds, temperature)], **kwargs)

    model.generate = seeded
    try:
        yield
    finally:
        del model.generate
