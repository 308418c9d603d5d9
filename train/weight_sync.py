"""Verify once per process, also after a resume, that vLLM samples with the weights being trained.

TRL sends its weights to vLLM before each step's rollout. If vLLM silently ignores them it keeps the weights it loaded,
which in a fresh run are identical, so agreement alone proves nothing. We therefore perturb weights, sync, restore, sync
again, and compare vLLM's log-probs of a fixed text with the trainer's each time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from eval.checks.same_weights import (
    TOKENS,
    Comparison,
    Served,
    compare,
    is_last_norm,
    mismatch,
    perturbed,
    stale,
    tolerance,
)
from eval.config import ConfigError
from train.main_process import run_on_main
from train.sharded_weights import writable
from train.turn_generation import TurnLimits, vllm_turn

if TYPE_CHECKING:
    from torch.nn import Parameter
    from trl import GRPOTrainer

SHIFT = 0.02
"""Added to the adapters' second factors (lora_B), which are 0 in a fresh run; TRL merges adapters before it syncs."""
GREEDY = {"temperature": 0.0}
TODO = (
    "episodes would be sampled with other weights than are trained. Run `python -m eval.doctor`, which checks vLLM on "
    "the model alone; if it passes, vLLM ignores the weights that TRL sends: check the versions of vllm and trl, or "
    "set trl.use_vllm false"
)


class WeightSyncError(ConfigError):
    """vLLM does not sample with the trainer's weights; the message says how far off it is and what to do."""


@dataclass
class WeightSyncCheck:
    """Runs on its first call with a trainer that samples with vLLM, right after TRL has synced its weights."""

    ids: Sequence[int]
    """Token ids of the fixed text, with room for `TOKENS` more."""
    tell: Callable[[int, Mapping[str, float]], None]
    """Receives the step and the metrics, whether the check passes or not."""
    done: bool = field(default=False, init=False)

    def __call__(self, trainer: GRPOTrainer) -> None:
        """Every process must call this together.

        Raises:
            WeightSyncError: on every process, if on any of them log-probs differ or do not follow the weights.
        """
        if self.done or not trainer.use_vllm:
            return
        self.done = True
        metrics, problem = _compare_before_and_after(trainer, self.ids)
        self.tell(int(trainer.state.global_step), metrics)
        if problem is not None:
            raise WeightSyncError(f"vLLM ({trainer.vllm_mode}) at step {trainer.state.global_step}: {problem}; {TODO}")


def _compare_before_and_after(trainer: GRPOTrainer, ids: Sequence[int]) -> tuple[dict[str, float], str | None]:
    """Compare log-probs as synced, with perturbed weights, and with restored weights.

    Returns the largest differences over all processes, and the first problem.
    """
    from accelerate.utils import gather_object

    allowed = tolerance(_served_dtype(trainer), _trained_dtype(trainer))
    before = _compare(trainer, ids)
    model: Any = trainer.model
    adapted = [weights for name, weights in model.named_parameters() if name.endswith(".base_layer.weight")]
    with restored(adapted), perturbed_weights(trainer):
        trainer.vllm_generation.sync_weights()
        after = _compare(trainer, ids)
    with restored(adapted):
        trainer.vllm_generation.sync_weights()
        again = _compare(trainer, ids)
    problems = {
        "synced": mismatch(before, allowed),
        "perturbed and synced": stale(before, after) or mismatch(after, allowed),
        "restored and synced": mismatch(again, allowed),
    }
    problem = next((f"after weights were {when}, {what}" for when, what in problems.items() if what), None)
    everyone: list[Any] = gather_object([(before.difference, after.difference, again.difference, problem)])
    names = ("difference", "difference_moved", "difference_put_back")
    metrics = {name: max(row[column] for row in everyone) for column, name in enumerate(names)}
    return {**metrics, "allowed": allowed}, next((row[-1] for row in everyone if row[-1]), None)


def _compare(trainer: GRPOTrainer, ids: Sequence[int]) -> Comparison:
    """vLLM's current continuation of `ids`, compared with the trainer's model."""
    with vllm_turn(trainer, TurnLimits(frozenset(), TOKENS), **GREEDY):
        _, (sampled,), (values,), _ = trainer.vllm_generation.generate([list(ids)], None, 1)
    model: Any = trainer.model
    training = model.training
    model.eval()
    try:
        with trainer.accelerator.autocast():
            # vLLM reports NaN as None.
            log_probs = tuple(float("nan") if value[0] is None else value[0] for value in values)
            return compare(model, ids, Served(tuple(sampled), log_probs))
    finally:
        model.train(training)


@contextmanager
def perturbed_weights(trainer: GRPOTrainer) -> Iterator[None]:
    """Within this context, the last normalization of the trainer's model and its adapters, if any, are perturbed.

    Raises:
        ConfigError: the model has neither.
    """
    import torch

    model: Any = trainer.model
    chosen: dict[str, Parameter] = {
        name: weights for name, weights in model.named_parameters() if is_last_norm(name) or ".lora_B." in name
    }
    if not chosen:
        raise ConfigError(
            "the model has no last normalization and no adapters to perturb, so its sync to vLLM cannot be checked; "
            "set trl.use_vllm false"
        )
    with torch.no_grad():
        with writable(trainer, list(chosen.values())):
            before = [weights.clone() for weights in chosen.values()]
            for name, weights in chosen.items():
                weights.copy_(perturbed(weights) if is_last_norm(name) else weights + SHIFT)
        try:
            yield
        finally:
            with writable(trainer, list(chosen.values())):
                for weights, saved in zip(chosen.values(), before, strict=True):
                    weights.copy_(saved)


@contextmanager
def restored(weights: Sequence[Parameter]) -> Iterator[None]:
    """Restore `weights` on exit. TRL merges adapters into them to sync and unmerges them, which rounds."""
    import torch

    with torch.no_grad():
        before = [each.clone() for each in weights]
        try:
            yield
        finally:
            for each, saved in zip(weights, before, strict=True):
                each.copy_(saved)


def _trained_dtype(trainer: GRPOTrainer) -> str:
    """The lowest precision that the trainer computes in."""
    model: Any = trainer.model
    mixed = trainer.accelerator.mixed_precision != "no"
    return "16 bits" if mixed else str(model.dtype).removeprefix("torch.")


def _served_dtype(trainer: GRPOTrainer) -> str:
    """The precision that vLLM serves in: bfloat16 for a float32 folder."""
    generation = trainer.vllm_generation
    if trainer.vllm_mode == "colocate":
        dtype = generation.llm.llm_engine.model_config.dtype
    else:
        dtype = run_on_main(lambda: generation.vllm_client.get_server_info()["model_config"]["dtype"])
    return str(dtype).removeprefix("torch.")
