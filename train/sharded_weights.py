"""Weights that processes have divided among them (`train/parallel.py`): made whole to be written, or to generate with.

All processes call these functions together, whatever the kind; where each has all weights there is no more to do.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from eval.config import ConfigError

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import Trainer


def gathered(trainer: Trainer) -> dict[str, Tensor]:
    """The weights of the model in a trainer by their names, whole in the first process.

    Where ZeRO-3 divides a model with adapters, theirs alone. Afterwards this process opens models like any other, which
    ZeRO-3 would divide as soon as they are read.
    """
    from peft import PeftModel
    from transformers.integrations.deepspeed import unset_hf_deepspeed_config

    accelerator: Any = trainer.accelerator
    model: Any = accelerator.unwrap_model(trainer.model)
    if _is_zero3(trainer):
        engine: Any = trainer.model_wrapped
        state = engine._zero3_consolidated_16bit_state_dict(exclude_frozen_parameters=isinstance(model, PeftModel))
        unset_hf_deepspeed_config()
    else:
        state = accelerator.get_state_dict(trainer.model_wrapped if trainer.is_fsdp_enabled else trainer.model)
    return dict(state or {})


@contextmanager
def whole(trainer: Trainer) -> Iterator[None]:
    """Meanwhile any one process may generate with the model in a trainer, without the others.

    Raises:
        ConfigError: FSDP2 divides the weights, which only all processes together can generate with.
    """
    if trainer.is_fsdp_enabled:
        raise ConfigError("with parallel fsdp2 nothing is probed while it trains; set probe to null, or take zero3")
    if not _is_zero3(trainer):
        yield
        return
    from trl.models import unwrap_model_for_generation

    kwargs: Any = trainer.args.gradient_checkpointing_kwargs
    whole_model = unwrap_model_for_generation(
        trainer.model_wrapped, trainer.accelerator, gradient_checkpointing_kwargs=kwargs
    )
    with whole_model as model, _without_hooks(model):
        yield


@contextmanager
def writable(trainer: Trainer, weights: Sequence[Tensor]) -> Iterator[None]:
    """Meanwhile every process may write into `weights` of the model in a trainer, all of them the same."""
    if not _is_zero3(trainer):
        yield  # FSDP2's shards are written like whole ones, element by element
        return
    import deepspeed

    with deepspeed.zero.GatheredParameters(list(weights), modifier_rank=0):
        yield


@contextmanager
def _without_hooks(model: Any) -> Iterator[None]:
    """Meanwhile a call of `model` runs no hook: one that TRL leaves compares the order of modules among processes."""
    before = model._forward_pre_hooks, model._forward_hooks
    model._forward_pre_hooks, model._forward_hooks = OrderedDict(), OrderedDict()
    try:
        yield
    finally:
        model._forward_pre_hooks, model._forward_hooks = before


def _is_zero3(trainer: Trainer) -> bool:
    from trl.distributed import DistributedBackend

    return bool(DistributedBackend(trainer.accelerator).is_zero3)
