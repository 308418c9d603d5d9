"""What a reinforcement-learning run works with, opened from its configuration: weights, format, prompts, judges."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eval import plugin
from eval.config import ConfigError, Plugin
from eval.dialogue import content_hash
from eval.judge import Judge
from eval.rendering.chat_format import ChatFormat
from eval.rendering.model_format import open_chat_format
from eval.weights import model_folder, model_limits
from train.base_model import OnBaseModel
from train.global_batch import division
from train.held_out_probe import HeldOutProbe, open_probe
from train.rl_config import RlConfig
from train.rl_prompts import open_prompts
from train.scoring import RewardFunction
from train.training_rows import TrainingRow
from train.turn_boundary import TurnBoundary

if TYPE_CHECKING:
    from transformers import PreTrainedModel
    from trl import GRPOConfig as Arguments

SERVER = {f"vllm_{name}" for name in ("server_base_url", "server_host", "server_port", "server_timeout", "group_port")}
"""TRL's settings for the address of vLLM's server, which may be on another node after a restart."""
PAYMENT = {"budget_usd", "cache"}
"""Options of a judge that do not affect its verdicts: a run whose budget is spent resumes with a larger one."""
EXCLUDED: dict[str, Any] = {
    **dict.fromkeys(("name", "report_to", "shown_episodes", "run_dir", "dry_run", "allow_slow"), True),
    **dict.fromkeys(("model", "revision", "format", "data_dir"), True),
    "judge": PAYMENT,
    "probe": {"judge": PAYMENT},
    "trl": SERVER,
}
"""Fields that do not affect what is trained, or that enter the protocol through the content they refer to."""


@dataclass(frozen=True)
class RlParts(OnBaseModel):
    """The opened parts of one run; weights are only read by `open_model`."""

    config: RlConfig
    folder: Path
    """Of the base model."""
    chat_format: ChatFormat
    boundary: TurnBoundary | None
    """Between answer and user turn; None if answers are stored text."""
    prompts: dict[str, TrainingRow]
    """The dialogues that episodes start from, by id."""
    judge: Judge
    probe: HeldOutProbe | None
    planned: int | None = None
    """Number of processes if the run is only planned; None to use those that a launcher has started."""

    @cached_property
    def protocol(self) -> dict[str, Any]:
        """Everything that determines the trained weights; a run folder with another protocol is refused."""
        return {
            "base": self.model_id,
            "processes": self.arguments.world_size,
            "format": self.chat_format.name,
            "format_options": dict(self.chat_format.options),
            "template_sha": self.chat_format.template_sha,
            "user_turn_after": "as_history" if self.boundary is None or self.boundary.as_in_history else "as_last",
            "prompts_sha": content_hash(list(self.prompts)),
            "reward_judge": self.judge.id,
            "probe_judge": self.probe.judge.id if self.probe else None,
            **self.config.model_dump(mode="json", exclude=EXCLUDED),
        }

    @cached_property
    def arguments(self) -> Arguments:
        """The arguments of TRL's trainer."""
        from train.grpo_arguments import grpo_arguments

        config = self.config
        tokens = config.user_tokens + (config.answer_tokens + self.boundary.longest if self.boundary else 0)
        return grpo_arguments(config, config.run_dir / "checkpoints", tokens, self.planned)

    @property
    def division(self) -> str:
        """How a step is divided among processes and passes, in words."""
        return division(self.arguments, self.config.trl)

    @property
    def rewards(self) -> dict[str, RewardFunction]:
        """The rewards of the configuration, with their options."""
        functions = {}
        for name, given in self.config.rewards.items():
            module = plugin.load("train.rewards", name)
            functions[name] = RewardFunction(module.TURN, functools.partial(module.reward, **given.options))
        return functions

    def open_model(self) -> PreTrainedModel:
        """The weights that the policy starts from."""
        import torch

        from train.model_export import open_model

        return open_model(self.folder, getattr(torch, self.config.dtype))


def open_parts(config: RlConfig, planned: int | None = None) -> RlParts:
    """Open everything that `config` names, except the weights.

    Args:
        planned: number of processes if the run is only planned; None to use those that a launcher has started.

    Raises:
        ConfigError: model, prompts or judge are missing, malformed or incompatible.
    """
    folder = model_folder(config.model, config.revision)
    chat_format = open_chat_format(folder, config.format)
    boundary = None
    if config.episode == "two_turn":
        boundary = TurnBoundary(chat_format, open_chat_format(folder, config.format, "as_last"))
    prompts = open_prompts(config)
    _check_room(config, folder, chat_format, boundary, prompts)
    probe = open_probe(config.probe_config(config.run_dir), prompts.values()) if config.probe else None
    judge = _open_judge(config.judge, config.judge_s)
    evaluator = probe.judge if probe else _open_judge(Plugin(name="local"), config.judge_s)
    if judge.id == evaluator.id and not config.allow_same_judge:
        raise ConfigError(
            f"judge {judge.id} would reward and evaluate, so the evaluation would measure how far it is exploited; "
            "choose another judge or another probe.judge, or set allow_same_judge: true"
        )
    return RlParts(config, folder, chat_format, boundary, prompts, judge, probe, planned)


def _open_judge(judge: Plugin, seconds: float) -> Judge:
    """The judge, with the deadline as `call_s` if it has that option, so that it stops working on late results."""
    made = plugin.load("eval.judges", judge.name).Judge
    deadline = {"call_s": seconds} if "call_s" in inspect.signature(made.__init__).parameters else {}
    opened: Judge = made(**{**deadline, **judge.options})
    return opened


def _check_room(
    config: RlConfig,
    folder: Path,
    chat_format: ChatFormat,
    boundary: TurnBoundary | None,
    prompts: Mapping[str, TrainingRow],
) -> None:
    """Refuse prompts after which the template cannot open a turn, or that leave no room for the turns."""
    room = model_limits(folder).context
    role = "assistant" if boundary else "user"
    turns = config.user_tokens + (config.answer_tokens + boundary.longest if boundary else 0)
    for row in prompts.values():
        try:
            length = len(chat_format.open_turn(row.dialogue.messages, role))
        except ValueError as error:
            raise ConfigError(f"{row.place}: {error}") from error
        if length + turns > room:
            raise ConfigError(
                f"{row.place}: its {length} tokens and {turns} of an episode exceed the model's context of {room}; "
                "leave it out, or lower answer_tokens or user_tokens"
            )
