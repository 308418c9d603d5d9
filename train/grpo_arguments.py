"""The mapping `trl` of a configuration as TRL's `GRPOConfig`: passed through, with what must not be set refused."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eval.config import ConfigError
from train.rl_config import RlConfig
from train.trl_arguments import OURS_ALWAYS, REFUSED_ALWAYS, passed_through

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
"""Settings that another field of the configuration has."""

BIASED = (
    "tokens would be sampled from another distribution than the log-probabilities of the loss are of, which biases the "
    "importance ratio (huggingface/trl#6789); set temperature"
)
SHOWN = "every episode is in <run_dir>/episodes.jsonl"
REFUSED = {
    **REFUSED_ALWAYS,
    **dict.fromkeys(("top_p", "top_k", "min_p", "repetition_penalty", "generation_kwargs"), BIASED),
    "vllm_structured_outputs_regex": BIASED,
    "mask_truncated_completions": "a turn that is cut off is never trained, the other turn of its episode is",
    "use_transformers_continuous_batching": "its rows cannot draw from random streams of their own",
    "use_transformers_paged": "its rows cannot draw from random streams of their own",
    "cache_implementation": "generation is what the policy is trained on; it stays as it is tested",
    "vllm_enable_sleep_mode": "weights that were put to sleep have come back as others (vllm-project/vllm#29341)",
    "chat_template_kwargs": "the chat format renders; give its options with format",
    "shuffle_dataset": "the order of prompts is drawn from seed",
    "num_generations_eval": "what is watched is the probe",
    "disable_dropout": "dropout is off, since sampled and trained probabilities would differ",
    "cast_lm_head_to_fp32": "set dtype float32",
    **dict.fromkeys(("log_completions", "log_multimodal", "log_unique_prompts", "num_completions_to_print"), SHOWN),
    "log_completions_hub_repo": SHOWN,
}
"""Settings that would break what a run promises, with the reason."""


def grpo_arguments(config: RlConfig, folder: Path, completion_tokens: int, planned: int | None = None) -> Arguments:
    """The arguments of the trainer, which writes its checkpoints into `folder`. Imports trl.

    On top of TRL's defaults, those of `passed_through`; and vLLM's log-probabilities are corrected token by token, for
    the ratio of a whole episode grows with its length until TRL's default drops the episode (huggingface/trl#4772).

    Args:
        planned: processes of a run that is only planned; None for those that a launcher has started.

    Raises:
        ConfigError: a setting that TRL does not have, a value of the wrong kind, or one of the settings above; or
            whole steps do not fit into the episodes or between two checkpoints.
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
    arguments = passed_through(Arguments, config, fixed, OURS, REFUSED, planned)
    per_step = episodes_per_step(arguments)
    arguments.max_steps = config.max_episodes // per_step
    if not arguments.max_steps:
        raise ConfigError(
            f"max_episodes is {config.max_episodes}, and a step has {per_step}; allow more, or make the "
            "step smaller with trl.gradient_accumulation_steps or trl.per_device_train_batch_size"
        )
    if arguments.save_strategy == "steps" and arguments.save_steps % max(1, steps_per_batch(arguments)):
        raise ConfigError(
            f"trl.save_steps is {arguments.save_steps:g}, and {steps_per_batch(arguments)} steps use the same "
            "episodes; take a multiple, so that a resumed run samples what an uninterrupted one would"
        )
    if config.judge_s > arguments.ddp_timeout / 2:
        raise ConfigError(
            f"judge_s is {config.judge_s:g} s, and processes give up on each other after trl.ddp_timeout, "
            f"{arguments.ddp_timeout} s; lower the one below half of the other"
        )
    return arguments


def episodes_per_step(arguments: Any) -> int:
    """Episodes that are sampled for each optimizer step, over all processes."""
    micro_batch = arguments.per_device_train_batch_size * arguments.world_size
    return int(micro_batch * arguments.gradient_accumulation_steps // arguments.num_iterations)


def steps_per_batch(arguments: Any) -> int:
    """Optimizer steps after which episodes are always sampled anew, so that a checkpoint need not hold them."""
    uses = arguments.num_iterations * arguments.steps_per_generation
    return int(uses // math.gcd(uses, arguments.gradient_accumulation_steps))
