"""Turns the mapping `trl` of a configuration into TRL's `GRPOConfig`: passes settings through, refuses unsafe ones."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eval.config import ConfigError
from train.rl_config import RlConfig
from train.trl_arguments import OURS_ALWAYS, REFUSED_ALWAYS, build_arguments

if TYPE_CHECKING:
    from trl import GRPOConfig as Arguments

OURS = {
    **OURS_ALWAYS,
    "max_steps": "max_episodes",
    "num_train_epochs": "max_episodes",
    "max_completion_length": "answer_tokens and user_tokens",
    "temperature": "temperature",
    "reward_weights": "rewards",
    "multi_objective_aggregation": "credit",
}
"""Settings that are set through another field of the configuration, with that field."""

BIASED = (
    "tokens would be sampled from a different distribution than the one whose log-probabilities the loss uses, which "
    "biases the importance ratio (huggingface/trl#6789); set temperature"
)
SHOWN = "every episode is in <run_dir>/episodes.jsonl"
REFUSED = {
    **REFUSED_ALWAYS,
    **dict.fromkeys(("top_p", "top_k", "min_p", "repetition_penalty", "generation_kwargs"), BIASED),
    "vllm_structured_outputs_regex": BIASED,
    "mask_truncated_completions": "a truncated turn is never trained, but the other turn of its episode is",
    "use_transformers_continuous_batching": "it does not support a random stream per row",
    "use_transformers_paged": "it does not support a random stream per row",
    "cache_implementation": "the policy is trained on what is generated, and only the default cache is tested",
    "vllm_enable_sleep_mode": "weights can be corrupted when they wake up (vllm-project/vllm#29341)",
    "chat_template_kwargs": "the chat format renders prompts; set its options under format",
    "shuffle_dataset": "the order of prompts is drawn from seed",
    "num_generations_eval": "training is evaluated by the probe",
    "disable_dropout": "dropout is off, because sampled and trained probabilities would differ",
    "cast_lm_head_to_fp32": "set dtype float32",
    **dict.fromkeys(("log_completions", "log_multimodal", "log_unique_prompts", "num_completions_to_print"), SHOWN),
    "log_completions_hub_repo": SHOWN,
}
"""Settings that are not allowed, with the reason."""


def grpo_arguments(config: RlConfig, folder: Path, completion_tokens: int, planned: int | None = None) -> Arguments:
    """The arguments of the trainer, which writes its checkpoints into `folder`. Imports trl.

    Uses the defaults of `build_arguments`, and corrects vLLM's log-probabilities per token: the importance ratio of a
    whole episode grows with its length until TRL's default drops the episode (huggingface/trl#4772).

    Args:
        planned: number of processes if the run is only planned; None to use those that a launcher has started.

    Raises:
        ConfigError: a setting is unknown to TRL, has a wrong value, or is one of the settings above; or the episodes,
            or those between two checkpoints, are not a whole number of steps.
    """
    from trl import GRPOConfig as Arguments

    fixed: dict[str, Any] = {
        "output_dir": str(folder),
        "run_name": config.name,
        "seed": config.seed,
        "max_completion_length": completion_tokens,
        "temperature": config.temperature,
        "disable_dropout": True,
        "max_steps": 1,
    }
    if "vllm_importance_sampling_mode" not in config.trl:
        fixed["vllm_importance_sampling_mode"] = "token_truncate"
    arguments = build_arguments(Arguments, config, fixed, OURS, REFUSED, planned)
    per_step = episodes_per_step(arguments)
    arguments.max_steps = config.max_episodes // per_step
    if not arguments.max_steps:
        raise ConfigError(
            f"max_episodes is {config.max_episodes}, and a step has {per_step}; raise it, or lower "
            "global_batch_size (without it, trl.per_device_train_batch_size)"
        )
    if arguments.save_strategy == "steps" and arguments.save_steps % max(1, steps_per_batch(arguments)):
        raise ConfigError(
            f"trl.save_steps is {arguments.save_steps:g}, and {steps_per_batch(arguments)} steps use the same "
            "episodes; take a multiple, so that a resumed run samples what an uninterrupted one would"
        )
    if config.judge_s > arguments.ddp_timeout / 2:
        raise ConfigError(
            f"judge_s is {config.judge_s:g} s, and processes time out waiting for each other after trl.ddp_timeout, "
            f"{arguments.ddp_timeout} s; set judge_s to at most half of that"
        )
    return arguments


def episodes_per_step(arguments: Any) -> int:
    """Number of episodes sampled per optimizer step, over all processes."""
    micro_batch = arguments.per_device_train_batch_size * arguments.world_size
    return int(micro_batch * arguments.gradient_accumulation_steps // arguments.num_iterations)


def steps_per_batch(arguments: Any) -> int:
    """Optimizer steps after which new episodes are always sampled, so that a checkpoint need not store any."""
    uses = arguments.num_iterations * arguments.steps_per_generation
    return int(uses // math.gcd(uses, arguments.gradient_accumulation_steps))
