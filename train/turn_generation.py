"""Generates one turn per row through a TRL GRPO trainer's own path: transformers, or vLLM in either mode.

The settings of a role are put in place around the trainer's `_generate_single_turn`: stop ids, token limit and, with
transformers, each row's random stream. vLLM draws from the random stream of its engine, so a resumed run with vLLM
samples other episodes than an uninterrupted one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from train.model_in_training import generating
from train.row_sampling import sample_by_row
from train.training_run import language_model

if TYPE_CHECKING:
    from trl import GRPOTrainer


class TurnLimits(NamedTuple):
    """What ends a turn."""

    stop_ids: frozenset[int]
    tokens: int
    """Maximum number of generated tokens, including the stop token."""


class Sampled(NamedTuple):
    """The ids of one turn, including its stop token, and their log-probabilities if the sampler reports them."""

    ids: list[int]
    logprobs: list[float | None] | None


def generate(
    trainer: GRPOTrainer, prompts: Sequence[Sequence[int]], limits: TurnLimits, seeds: Sequence[int], copies: int
) -> list[Sampled]:
    """One turn for each of `prompts`, in order.

    Args:
        prompts: token ids; each group of `copies` consecutive prompts is identical.
        seeds: the seed of each row's random stream.
    """
    context = vllm_turn(trainer, limits) if trainer.use_vllm else _transformers_turn(trainer, limits, seeds)
    with context:
        turns, logprobs = trainer._generate_single_turn([list(ids) for ids in prompts], None, {}, copies)
    if logprobs is None:
        return [Sampled(list(ids), None) for ids in turns]
    return [Sampled(list(ids), list(row)) for ids, row in zip(turns, logprobs, strict=True)]


@contextmanager
def _transformers_turn(trainer: GRPOTrainer, limits: TurnLimits, seeds: Sequence[int]) -> Iterator[None]:
    stops = sorted(limits.stop_ids)
    settings = trainer.generation_config
    before = (trainer.eos_token_ids, settings.eos_token_id, settings.max_new_tokens)
    trainer.eos_token_ids, settings.eos_token_id, settings.max_new_tokens = stops, stops, limits.tokens
    model: Any = trainer.accelerator.unwrap_model(trainer.model_wrapped)
    try:
        with generating(language_model(trainer)), sample_by_row(model, seeds, trainer.temperature):
            yield
    finally:
        trainer.eos_token_ids, settings.eos_token_id, settings.max_new_tokens = before


@contextmanager
def vllm_turn(trainer: GRPOTrainer, limits: TurnLimits, **sampling: Any) -> Iterator[None]:
    """Within this context, vLLM generates turns with these limits; `sampling` overrides the trainer's settings."""
    generation = trainer.vllm_generation
    before = (generation.generation_kwargs, generation.max_completion_length)
    # Without ignore_eos, the EOS tokens of the model's generation_config.json would end a turn of either role.
    ends = {"stop_token_ids": sorted(limits.stop_ids), "ignore_eos": True, "skip_special_tokens": False}
    generation.generation_kwargs = {**before[0], **ends, **sampling}
    generation.max_completion_length = limits.tokens
    try:
        yield
    finally:
        generation.generation_kwargs, generation.max_completion_length = before
