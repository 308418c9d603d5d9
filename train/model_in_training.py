"""A model in training as an engine: it generates between two optimizer steps, and training does not notice.

Random numbers, attention, mode and gradients of training are what they were when generation has ended.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from eval.engines.transformers import Engine
from eval.generation.grouped_attention import use_grouped_attention

if TYPE_CHECKING:
    from transformers import PreTrainedModel


class ModelInTraining(Engine):
    """The engine of `eval/engines/transformers.py` on weights that are in memory already."""

    def __init__(self, folder: Path, model: PreTrainedModel) -> None:
        """`folder` is that of the base model, for its limits; `model` may hold adapters."""
        super().__init__(folder, device=str(model.device))
        self.dtype = str(model.dtype).removeprefix("torch.")
        self.model = model


@contextmanager
def generating(model: PreTrainedModel) -> Iterator[None]:
    """Set `model` up to generate, and back up to train."""
    import numpy
    import torch

    attention, training = model.config._attn_implementation, model.training
    python_state, numpy_state = random.getstate(), numpy.random.get_state()
    with torch.random.fork_rng():
        model.eval()
        use_grouped_attention(model)
        try:
            yield
        finally:
            model.set_attn_implementation(attention)
            model.train(training)
            random.setstate(python_state)
            numpy.random.set_state(numpy_state)
