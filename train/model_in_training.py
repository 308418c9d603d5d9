"""A model being trained, as an engine: generate between optimizer steps and restore all training state after.

Random state, attention implementation, training mode and gradients are the same after generation as before.
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
    """The engine of `eval/engines/transformers.py` on weights that are already in memory."""

    def __init__(self, folder: Path, model: PreTrainedModel) -> None:
        """`folder` is the base model's, from which the limits are read; `model` may have adapters."""
        super().__init__(folder, device=str(model.device))
        self.dtype = str(model.dtype).removeprefix("torch.")
        self.model = model


@contextmanager
def generating(model: PreTrainedModel) -> Iterator[None]:
    """Within this context `model` is set up to generate; afterwards all training state is restored."""
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
