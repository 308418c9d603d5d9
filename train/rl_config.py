"""Configuration of a reinforcement-learning run: weights, prompts, rewards, and the probe during training.

The optimizer's settings are TRL's own: the mapping `trl` goes to `GRPOConfig` (`train/grpo_arguments.py`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import ConfigDict, Field, field_validator, model_validator

from eval import plugin
from eval.config import Config, ConfigError, options_for
from eval.plugin_fields import FormatPlugin, JudgePlugin, TrackerPlugin
from eval.probe_config import ProbeConfig
from eval.tracker import NOBODY
from train.parallel import Parallel, refuse_probe
from train.sft_config import Lora, Probe


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


class RlConfig(Config):
    """Configuration of `python -m train.rl`."""

    name: str = Field("RL", description="name of the trained model in tables")
    model: str = Field(description="model folder (a base model, or RUN_DIR/model of a run), or Hub id")
    revision: str | None = Field(None, description="commit, tag or branch of a Hub id")
    # An answer before a user turn is always rendered as it was sampled (train/turn_boundary.py).
    format: FormatPlugin = Field(description="chat family, a file of eval/formats/, with its options")
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
    lora: Lora | None = Field(Lora(), description="adapters (r, alpha, dropout, targets); null trains all weights")
    dtype: Literal["float32", "bfloat16"] = Field("float32", description="precision of the weights in memory")
    allow_slow: bool = Field(False, description="on a GPU, allow linear attention without its kernels")
    global_batch_size: int | None = Field(
        None, ge=1, description="episodes per optimizer step over all processes; null: follows from trl's settings"
    )
    parallel: Parallel = Field("ddp", description="how several processes share the weights (train/parallel.py)")
    trl: dict[str, Any] = Field({}, description="settings of trl's GRPOConfig, such as learning_rate and beta")
    probe: Probe | None = Field(None, description="probe at checkpoints (every, tasks, guard and so on)")
    report_to: TrackerPlugin = Field(
        NOBODY, description="experiment tracker: none, wandb (project, group, mode) or trackio"
    )
    shown_episodes: int = Field(4, ge=0, description="episodes of each step in the tracker's table")
    seed: int = Field(0, ge=0, description="seed of adapters, the order of prompts and every sampled token")
    data_dir: Path | None = Field(None, description="folder of data files; else $USERTURN_DATA, else the Hub")
    run_dir: Path = Field(description="folder of the run; an unfinished run resumes from its last checkpoint")
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
    def _fits_together(self) -> RlConfig:
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
        if self.lora is None and self.dtype != "float32":
            raise ConfigError(
                "lora is null and dtype is bfloat16: most updates are smaller than bfloat16 can represent and would be "
                "lost; use dtype float32, and trl.bf16 to compute in bfloat16"
            )
        price = self.accuracy_price
        if price is not None and price.reward not in self.rewards:
            raise ConfigError(f"accuracy_price.reward is {price.reward!r}, which is not among the rewards")
        if price is not None and self.probe is None:
            raise ConfigError("accuracy_price needs a probe, which measures accuracy; set probe.tasks")
        if self.probe is not None:
            refuse_probe(self.parallel)
            self.probe_config(self.run_dir)  # reports a wrong task now
        return self

    def probe_config(self, run_dir: Path) -> ProbeConfig:
        """The configuration of the probe during training, as `eval.probe` would have it."""
        assert self.probe is not None
        probe = self.probe.model_dump(include={"tasks", "answers", "sampling", "judge"})
        shared = {"model": self.model, "revision": self.revision, "format": self.format, "data_dir": self.data_dir}
        return ProbeConfig(name=self.name, seed=self.seed, run_dir=run_dir, **shared, **probe)
