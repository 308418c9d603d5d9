"""Whether vLLM samples with the weights that are trained, looked at once in every process, also in one that goes on.

TRL hands its weights to vLLM before a step's episodes. vLLM may not take them, without an error: then it goes on with
those that it has loaded itself, which are those of a fresh run, so that agreement alone shows nothing there. Hence
weights are moved, handed over and put back, and each time vLLM's log-probs of a fixed text must be the trainer's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from eval.checks.same_weights import TOKENS, Compared, Said, allowed, compared, differing, is_last_norm, moved, unmoved
from eval.config import ConfigError
from train.main_process import run_on_main
from train.sharded_weights import writable
from train.turn_generation import TurnLimits, vllm_turn

if TYPE_CHECKING:
    from torch.nn import Parameter
    from trl import GRPOTrainer

SHIFT = 0.02
"""What is added to the adapters' second factors, which are 0 in a fresh run and are merged to be handed over."""
GREEDY = {"temperature": 0.0}
TODO = (
    "episodes would be sampled with other weights than are trained. `python -m eval.doctor` looks at the model alone; "
    "if that is go, vLLM does not take what TRL hands over: look at the versions of vllm and trl, or set trl.use_vllm "
    "false"
)


class WeightSyncError(ConfigError):
    """vLLM does not sample with the weights of the trainer; the message says how far off it is and what to do."""


@dataclass
class WeightSyncCheck:
    """Looks when it is first called with a trainer that samples with vLLM, and TRL has just handed its weights over."""

    ids: Sequence[int]
    """The fixed text, with room for some tokens behind it."""
    tell: Callable[[int, Mapping[str, float]], None]
    """Is told the metrics at a step, good or bad."""
    done: bool = field(default=False, init=False)

    def __call__(self, trainer: GRPOTrainer) -> None:
        """All processes call it together.

        Raises:
            WeightSyncError: log-probs differ, or do not move with the weights; in every process, if in one.
        """
        if self.done or not trainer.use_vllm:
            return
        self.done = True
        metrics, problem = _looked_at(trainer, self.ids)
        self.tell(int(trainer.state.global_step), metrics)
        if problem is not None:
            raise WeightSyncError(f"vLLM ({trainer.vllm_mode}) at step {trainer.state.global_step}: {problem}; {TODO}")


def _looked_at(trainer: GRPOTrainer, ids: Sequence[int]) -> tuple[dict[str, float], str | None]:
    """Differences of log-probs from the trainer's, the largest of any process, and the first problem."""
    from accelerate.utils import gather_object

    most = allowed(_served_dtype(trainer), _trained_dtype(trainer))
    before = _compared(trainer, ids)
    model: Any = trainer.model
    adapted = [weights for name, weights in model.named_parameters() if name.endswith(".base_layer.weight")]
    with unchanged(adapted), moved_weights(trainer):
        trainer.vllm_generation.sync_weights()
        after = _compared(trainer, ids)
    with unchanged(adapted):
        trainer.vllm_generation.sync_weights()
        again = _compared(trainer, ids)
    found = {
        "handed over": differing(before, most),
        "moved and handed over": unmoved(before, after) or differing(after, most),
        "put back and handed over": differing(again, most),
    }
    problem = next((f"after weights were {when}, {told}" for when, told in found.items() if told), None)
    everyone: list[Any] = gather_object([(before.apart, after.apart, again.apart, problem)])
    names = ("difference", "difference_moved", "difference_put_back")
    metrics = {name: max(row[place] for row in everyone) for place, name in enumerate(names)}
    return {**metrics, "allowed": most}, next((row[-1] for row in everyone if row[-1]), None)


def _compared(trainer: GRPOTrainer, ids: Sequence[int]) -> Compared:
    """What vLLM says behind `ids` now, held against the trainer's model."""
    with vllm_turn(trainer, TurnLimits(frozenset(), TOKENS), **GREEDY):
        _, (said,), (values,), _ = trainer.vllm_generation.generate([list(ids)], None, 1)
    model: Any = trainer.model
    training = model.training
    model.eval()
    try:
        with trainer.accelerator.autocast():
            # vLLM tells a nan as None.
            served = tuple(float("nan") if place[0] is None else place[0] for place in values)
            return compared(model, ids, Said(tuple(said), served))
    finally:
        model.train(training)


@contextmanager
def moved_weights(trainer: GRPOTrainer) -> Iterator[None]:
    """Meanwhile the trainer's model has another last normalisation and, where it has adapters, other adapters.

    Raises:
        ConfigError: it has neither.
    """
    import torch

    model: Any = trainer.model
    chosen: dict[str, Parameter] = {
        name: weights for name, weights in model.named_parameters() if is_last_norm(name) or ".lora_B." in name
    }
    if not chosen:
        raise ConfigError("the model has no last normalisation and no adapters to move: trl.use_vllm cannot be checked")
    with torch.no_grad():
        with writable(trainer, list(chosen.values())):
            before = [weights.clone() for weights in chosen.values()]
            for name, weights in chosen.items():
                weights.copy_(moved(weights) if is_last_norm(name) else weights + SHIFT)
        try:
            yield
        finally:
            with writable(trainer, list(chosen.values())):
                for weights, kept in zip(chosen.values(), before, strict=True):
                    weights.copy_(kept)


@contextmanager
def unchanged(weights: Sequence[Parameter]) -> Iterator[None]:
    """Puts `weights` back afterwards: TRL adds adapters to them to hand them over and takes them off, which rounds."""
    import torch

    with torch.no_grad():
        before = [each.clone() for each in weights]
        try:
            yield
        finally:
            for each, kept in zip(weights, before, strict=True):
                each.copy_(kept)


def _trained_dtype(trainer: GRPOTrainer) -> str:
    """The coarsest precision that the trainer computes in."""
    model: Any = trainer.model
    rounds = trainer.accelerator.mixed_precision != "no"
    return "16 bits" if rounds else str(model.dtype).removeprefix("torch.")


def _served_dtype(trainer: GRPOTrainer) -> str:
    """The precision of vLLM, which takes bfloat16 for a folder in float32."""
    generation = trainer.vllm_generation
    if trainer.vllm_mode == "colocate":
        found = generation.llm.llm_engine.model_config.dtype
    else:
        found = run_on_main(lambda: generation.vllm_client.get_server_info()["model_config"]["dtype"])
    return str(found).removeprefix("torch.")
