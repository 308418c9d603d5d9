"""Weights sharded across processes (ZeRO-3, FSDP2): gather them to save, to generate with, or to write to.

Every process must call these functions together; with unsharded weights they do nothing. See `train/parallel.py`.
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


def gathered_weights(trainer: Trainer) -> dict[str, Tensor]:
    """The weights of a trainer's model by name, complete on the main process.

    With ZeRO-3 and adapters, only the weights of the adapters. Afterwards transformers no longer shards the models that
    this process loads, which ZeRO-3 would otherwise do while it reads them.
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
def gathered_for_generation(trainer: Trainer) -> Iterator[None]:
    """Within this context, any single process can generate with the trainer's model.

    Raises:
        ConfigError: the weights are sharded with FSDP2, where only all processes together can generate.
    """
    if trainer.is_fsdp_enabled:
        raise ConfigError("parallel fsdp2 cannot be probed during training; set probe to null, or use parallel zero3")
    if not _is_zero3(trainer):
        yield
        return
    from trl.models import unwrap_model_for_generation

    kwargs: Any = trainer.args.gradient_checkpointing_kwargs
    gathered = unwrap_model_for_generation(
        trainer.model_wrapped, trainer.accelerator, gradient_checkpointing_kwargs=kwargs
    )
    with gathered as model, _without_hooks(model):
        yield


@contextmanager
def writable(trainer: Trainer, weights: Sequence[Tensor]) -> Iterator[None]:
    """Within this context, every process can write to `weights` of the trainer's model; all must write the same."""
    if not _is_zero3(trainer):
        yield  # FSDP2's shards take elementwise writes like unsharded weights
        return
    import deepspeed

    with deepspeed.zero.GatheredParameters(list(weights), modifier_rank=0):
        yield


@contextmanager
def _without_hooks(model: Any) -> Iterator[None]:
    """Disable hooks of `model`: one that TRL leaves in place compares the order of modules across processes."""
    before = model._forward_pre_hooks, model._forward_hooks
    model._forward_pre_hooks, model._forward_hooks = OrderedDict(), OrderedDict()
    try:
        yield
    finally:
        model._forward_pre_hooks, model._forward_hooks = before


def _is_zero3(trainer: Trainer) -> bool:
    from trl.distributed import DistributedBackend

    return bool(DistributedBackend(trainer.accelerator).is_zero3)
