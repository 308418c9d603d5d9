"""TRL's GRPO trainer with this project's episodes and credit; model, loss, clipping, KL and optimizer are TRL's.

Two things differ from TRL. The order of prompts is `PromptOrder`. And advantages are per token, (episodes, tokens)
instead of (episodes,), a shape that TRL's loss accepts from a subclass; the rollout provides them.
"""

from __future__ import annotations

import copy
import functools
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eval.config import ConfigError
from train.adapters import adapter_settings
from train.fused_head import score_trained_positions_alone
from train.prompt_order import PromptOrder
from train.quiet_trainer import QuietTrainer
from train.rollout import Rollout
from train.training_config import Lora

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedModel, PreTrainedTokenizerBase
    from trl import GRPOConfig, GRPOTrainer
    from trl import GRPOTrainer as _Base
else:
    _Base = object


class EpisodeTrainer(QuietTrainer, _Base):
    """`GRPOTrainer` on the episodes of a rollout, in `PromptOrder`, with the rollout's credit as advantages."""

    def __init__(self, rollout: Rollout, **arguments: Any) -> None:
        self._rollout = rollout
        super().__init__(rollout_func=rollout, **arguments)

    def _generate_and_score_completions(self, inputs: list[dict[str, Any]]) -> dict[str, Any]:
        output = super()._generate_and_score_completions(inputs)
        output["advantages"] = per_token([row["credit"] for row in inputs], output["completion_ids"])
        return dict(output)

    def _get_train_sampler(self, dataset: Any = None) -> Any:
        return prompt_order(len(self._rollout.dialogues), self.args)

    def log(self, logs: dict[str, Any], start_time: float | None = None) -> None:
        # A step that reuses the episodes of an earlier step must log the same keys as that step.
        absent: dict[str, Any] = dict.fromkeys(self._rollout.metric_names) if "loss" in logs else {}
        super().log({**absent, **logs}, start_time)


@functools.cache
def trainer_class() -> type[EpisodeTrainer]:
    """`EpisodeTrainer` over TRL's class; made on first use, because importing this file must not import trl."""
    from trl import GRPOTrainer

    class Trainer(EpisodeTrainer, GRPOTrainer):
        """An `EpisodeTrainer` that trains."""

    return Trainer


def make_trainer(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    arguments: GRPOConfig,
    rollout: Rollout,
    rewards: Sequence[str],
    lora: Lora | None,
) -> GRPOTrainer:
    """A trainer of `model`, or of fresh adapters on it, on the episodes that `rollout` generates.

    Args:
        rewards: names of the rewards that the rollout returns.

    Raises:
        ConfigError: these settings do not work with this model.
    """
    from datasets import Dataset

    score_trained_positions_alone()
    warnings.filterwarnings("ignore", message="You are using 'rollout_func'")
    stops = sorted(rollout.chat_format.stop_ids("user"))
    _check_class(model, arguments, lora)
    trainer = trainer_class()(
        rollout=rollout,
        model=model,
        reward_funcs=[column(name) for name in rewards],
        args=arguments,
        train_dataset=Dataset.from_dict({"prompt": list(rollout.dialogues)}),
        processing_class=_with_special_tokens(tokenizer, stops[0]),
        peft_config=None if lora is None else adapter_settings(model, lora),
    )
    trainer.eos_token_ids = stops  # of the user turn, which is last; for TRL's own metrics
    return trainer


def column(name: str) -> Callable[..., list[float | None]]:
    """A TRL reward function that reads the rollout's reward `name`; None if any reward of the row is unknown.

    TRL counts a reward that is None as 0 if another reward of the row is known
    (`GRPOTrainer._generate_and_score_completions`).
    """

    def read(rewards: Sequence[dict[str, float | None]], **others: Any) -> list[float | None]:
        return [None if None in row.values() else row[name] for row in rewards]

    read.__name__ = name
    return read


def per_token(credit: Sequence[Sequence[float]], completion_ids: Tensor) -> Tensor:
    """The advantage of each id in `completion_ids` (episodes, tokens), 0 for padding."""
    import torch

    advantages = torch.zeros(completion_ids.shape, dtype=torch.float32, device=completion_ids.device)
    for row, values in enumerate(credit):
        advantages[row, : len(values)] = torch.tensor(values, device=completion_ids.device)
    return advantages


def prompt_order(prompts: int, arguments: Any) -> PromptOrder:
    """The order in which a run with `arguments` visits `prompts` prompts."""
    repeats = arguments.num_iterations * arguments.steps_per_generation
    micro_steps = arguments.max_steps * arguments.gradient_accumulation_steps
    return PromptOrder(
        prompts,
        batch=arguments.generation_batch_size // arguments.num_generations,
        group=arguments.num_generations,
        repeats=repeats,
        batches=-(-micro_steps // repeats),
        seed=arguments.seed,
    )


def _with_special_tokens(tokenizer: PreTrainedTokenizerBase, stop: int) -> PreTrainedTokenizerBase:
    """A copy with the EOS and padding token that TRL requires; neither affects sampling or the loss."""
    copied = copy.deepcopy(tokenizer)
    token = copied.convert_ids_to_tokens(stop)
    copied.eos_token = token
    copied.pad_token = copied.pad_token or token
    return copied


def _check_class(model: PreTrainedModel, arguments: GRPOConfig, lora: Lora | None) -> None:
    """Refuse to let TRL or vLLM load the folder of `model` as another class, whose weights have other names."""
    import json

    loaders = []
    if arguments.use_vllm:
        loaders.append("vLLM (trl.use_vllm)")
    if lora is None and arguments.beta:
        loaders.append("the reference model (trl.beta without lora)")
    config = Path(str(model.name_or_path)) / "config.json"
    saved = (json.loads(config.read_text(encoding="utf-8")) if config.is_file() else {}).get("architectures")
    if loaders and saved and saved[0] != type(model).__name__:
        raise ConfigError(
            f"{model.name_or_path} is saved as {saved[0]} and trained as {type(model).__name__}; {loaders[0]} would "
            "load the former, whose weights have other names. Start from a folder that holds the language model only, "
            "as train.sft saves it"
        )
