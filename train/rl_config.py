"""Configuration of a reinforcement-learning run: episodes and rewards, on top of what all training runs share.

The optimizer's settings are TRL's own: the mapping `trl` goes to `GRPOConfig` (`train/grpo_arguments.py`).
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import ConfigDict, Field, field_validator, model_validator

from eval import plugin
from eval.config import Config, ConfigError, options_for
from eval.plugin_fields import JudgePlugin
from train.training_config import TrainingConfig


class Reward(Config):
    """A file of `train/rewards/`, with its weight and options."""

    model_config = ConfigDict(frozen=True, extra="allow")

    weight: float = Field(1.0, gt=0.0, description="factor on its advantages")

    @property
    def options(self) -> dict[str, Any]:
        """The options of the reward function."""
        return dict(self.model_extra or {})


class AccuracyPrice(Config):
    """The price of lost accuracy: the weight of `reward` rises until accuracy is back (a Lagrange multiplier)."""

    reward: str = Field("gsm8k", description="the reward whose weight rises")
    margin: float = Field(5.0, ge=0.0, description="fall of the probe's accuracy that is free, in percentage points")
    step: float = Field(0.05, gt=0.0, description="rise of the weight at each probe, per point beyond the margin")
    most: float = Field(5.0, gt=0.0, description="largest rise")


class RlConfig(TrainingConfig):
    """Configuration of `python -m train.rl`.

    There is no `history`: an answer before a user turn is always rendered as it was sampled (train/turn_boundary.py).
    """

    name: str = Field("RL", description="name of the trained model in tables")
    episode: Literal["two_turn", "user_turn"] = Field(
        "two_turn",
        description="two_turn: answer a question, then speak as its user; user_turn: speak after a stored answer",
    )
    prompts: dict[str, dict[str, Any]] = Field(
        description="files of train/prompts/, each with the options of its `load`; null leaves one out"
    )
    answer_tokens: int = Field(96, ge=1, description="token limit of an answer, including the stop token")
    user_tokens: int = Field(48, ge=1, description="token limit of a user turn, including the stop token")
    temperature: float = Field(1.0, gt=0.0, description="sampling temperature; also scales log-probabilities")
    max_episodes: int = Field(ge=1, description="episodes of the whole run; rounded down to whole steps")
    rewards: dict[str, Reward] = Field(
        description="files of train/rewards/, each with its weight and options; null leaves one out"
    )
    judge: JudgePlugin = Field(description="reward judge: a file of eval/judges/, with its options")
    judge_s: float = Field(120.0, gt=0.0, description="seconds that judging a step may take; later rewards are unknown")
    allow_same_judge: bool = Field(False, description="allow the reward judge to evaluate as well")
    credit: Literal["turn", "episode"] = Field(
        "turn", description="tokens that get a reward's advantage: those of its own turn, or all of the episode"
    )
    accuracy_price: AccuracyPrice | None = Field(
        None, description="weight on accuracy that rises while accuracy is low (reward, margin, step, most)"
    )
    global_batch_size: int | None = Field(
        None, ge=1, description="episodes per optimizer step over all processes; null: follows from trl's settings"
    )
    trl: dict[str, Any] = Field({}, description="settings of trl's GRPOConfig, such as learning_rate and beta")
    shown_episodes: int = Field(4, ge=0, description="episodes of each step in the tracker's table")
    seed: int = Field(0, ge=0, description="seed of adapters, the order of prompts and every sampled token")
    dry_run: bool = Field(False, description="print what would be trained on, and exit")

    @field_validator("prompts", "rewards", mode="before")
    @classmethod
    def _null_leaves_one_out(cls, chosen: Any) -> Any:
        if not isinstance(chosen, dict):
            return chosen
        return {name: options for name, options in chosen.items() if options is not None}

    @field_validator("prompts")
    @classmethod
    def _prompts_take_their_options(cls, prompts: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
        if not prompts:
            raise ValueError(f"no prompts are chosen; train/prompts has {', '.join(plugin.names('train.prompts'))}")
        return {
            name: options_for(
                plugin.load("train.prompts", name).load, options, f"prompts.{name}", ours=["seed", "data_dir"]
            )
            for name, options in prompts.items()
        }

    @field_validator("rewards")
    @classmethod
    def _rewards_take_their_options(cls, rewards: dict[str, Reward]) -> dict[str, Reward]:
        if not rewards:
            raise ValueError(f"no reward is chosen; train/rewards has {', '.join(plugin.names('train.rewards'))}")
        return {
            name: Reward(
                weight=given.weight,
                **options_for(
                    plugin.load("train.rewards", name).reward, given.options, f"rewards.{name}", ours=["dialogue"]
                ),
            )
            for name, given in rewards.items()
        }

    @model_validator(mode="after")
    def _rewards_fit(self) -> RlConfig:
        for name in self.rewards:
            turn = plugin.load("train.rewards", name).TURN
            if self.episode == "user_turn" and turn != "user":
                raise ConfigError(
                    f"rewards.{name} is for the {turn}'s turn, which episode user_turn does not sample; leave it out"
                )
        if self.lora is not None and self.lora.dropout:
            raise ConfigError(
                "lora.dropout must be 0 here: tokens would be sampled from different probabilities than are trained"
            )
        price = self.accuracy_price
        if price is not None and price.reward not in self.rewards:
            raise ConfigError(f"accuracy_price.reward is {price.reward!r}, which is not among the rewards")
        if price is not None and self.probe is None:
            raise ConfigError("accuracy_price needs a probe, which measures accuracy; set probe.tasks")
        return self
