"""TRL's GRPO trainer with episodes and credit of our own; model, loss, clipping, KL and optimizer are TRL's.

Two things are changed. The order of prompts is `PromptOrder`. And an advantage is a number for each token, (episodes,
tokens) instead of (episodes,), as TRL's loss takes it from a subclass: the rollout has said what each token gets.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eval.config import ConfigError
from train.adapters import adapter_settings
from train.fused_head import score_trained_positions_alone
from train.prompt_order import PromptOrder
from train.rollout import Rollout
from train.sft_config import Lora

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedModel, PreTrainedTokenizerBase
    from trl import GRPOConfig, GRPOTrainer


def make_trainer(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    arguments: GRPOConfig,
    rollout: Rollout,
    rewards: Sequence[str],
    lora: Lora | None,
) -> GRPOTrainer:
    """A trainer of `model`, or of fresh adapters on it, on the episodes that `rollout` plays.

    Args:
        rewards: names of the rewards that the rollout gives.

    Raises:
        ConfigError: the trainer cannot work on this model with these settings.
    """
    from datasets import Dataset
    from transformers import PrinterCallback
    from trl import GRPOTrainer

    score_trained_positions_alone()
    warnings.filterwarnings("ignore", message="You are using 'rollout_func'")
    stops = sorted(rollout.chat_format.stop_ids("user"))
    _check_class(model, arguments, lora)
    prompts = list(rollout.dialogues)

    class Trainer(GRPOTrainer):
        def _generate_and_score_completions(self, inputs: list[dict[str, Any]]) -> dict[str, Any]:
            output = super()._generate_and_score_completions(inputs)
            output["advantages"] = per_token([row["credit"] for row in inputs], output["completion_ids"])
            return dict(output)

        def _get_train_sampler(self, dataset: Any = None) -> Any:
            return prompt_order(len(prompts), self.args)

        def log(self, logs: dict[str, Any], start_time: float | None = None) -> None:
            # A step that uses the episodes of an earlier one has the same keys as that one.
            absent: dict[str, Any] = dict.fromkeys(rollout.metric_names) if "loss" in logs else {}
            super().log({**absent, **logs}, start_time)

        def create_model_card(self, *args: Any, **kwargs: Any) -> None:
            """None for a checkpoint; the card of a run is in its model folder."""

        def _send_telemetry(self) -> None:
            """Nothing about a run is sent anywhere that its configuration does not name."""

    trainer = Trainer(
        model=model,
        reward_funcs=[column(name) for name in rewards],
        args=arguments,
        train_dataset=Dataset.from_dict({"prompt": prompts}),
        processing_class=_with_ends(tokenizer, stops[0]),
        peft_config=None if lora is None else adapter_settings(model, lora),
        rollout_func=rollout,
    )
    trainer.eos_token_ids = stops  # the last turn's, for TRL's own metrics
    trainer.remove_callback(PrinterCallback)
    return trainer


def column(name: str) -> Callable[..., list[float | None]]:
    """A reward function of TRL that reads what the rollout has found; None for all rewards of a row if one is unknown.

    TRL would take a reward that is missing beside others for 0 (`GRPOTrainer._generate_and_score_completions`).
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
    """The order of so many prompts in the run that `arguments` describe."""
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


def _with_ends(tokenizer: PreTrainedTokenizerBase, stop: int) -> PreTrainedTokenizerBase:
    """A copy that has what TRL asks of a tokenizer, an end and a padding token, neither of which decides anything."""
    ended = copy.deepcopy(tokenizer)
    token = ended.convert_ids_to_tokens(stop)
    ended.eos_token = token
    ended.pad_token = ended.pad_token or token
    return ended


def _check_class(model: PreTrainedModel, arguments: GRPOConfig, lora: Lora | None) -> None:
    """Refuse to let TRL or vLLM open the folder of `model` as another class, whose weights have other names."""
    import json

    opens = []
    if arguments.use_vllm:
        opens.append("vLLM (trl.use_vllm)")
    if lora is None and arguments.beta:
        opens.append("the reference model (trl.beta without lora)")
    config = Path(str(model.name_or_path)) / "config.json"
    written = (json.loads(config.read_text(encoding="utf-8")) if config.is_file() else {}).get("architectures")
    if opens and written and written[0] != type(model).__name__:
        raise ConfigError(
            f"{model.name_or_path} is saved as {written[0]} and trained as {type(model).__name__}; {opens[0]} would "
            "open the former, whose weights have other names. Start from a folder that holds the language model alone, "
            "as train.sft saves it"
        )
