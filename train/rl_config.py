"""What a reinforcement-learning run is told: which weights, on which prompts, rewarded by what, and what is watched.

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
    """A file of `train/rewards/` with its weight and its options."""

    model_config = ConfigDict(frozen=True, extra="allow")

    weight: float = Field(1.0, gt=0.0, description="factor of its advantages")

    @property
    def options(self) -> dict[str, Any]:
        """What the reward itself takes."""
        return dict(self.model_extra or {})


class AccuracyPrice(Config):
    """What a fall of accuracy costs: the weight of `reward` rises until accuracy is back (a Lagrange multiplier)."""

    reward: str = Field("gsm8k", description="the reward whose weight rises")
    margin: float = Field(5.0, ge=0.0, description="fall of the probe's accuracy, in percentage points, that is free")
    step: float = Field(0.05, gt=0.0, description="rise of the weight for each point of the fall beyond, at each probe")
    most: float = Field(5.0, gt=0.0, description="largest rise")


class RlConfig(Config):
    """Configuration of `python -m train.rl`."""

    name: str = Field("RL", description="name of the trained model in tables")
    model: str = Field(description="model folder (of a base model, or RUN_DIR/model of a run), or Hub id")
    revision: str | None = Field(None, description="commit, tag or branch of a Hub id")
    # An assistant's turn before a user's is always rendered as it was sampled (train/turn_boundary.py).
    format: FormatPlugin = Field(description="chat family, a file of eval/formats/, with its options")
    episode: Literal["two_turn", "user_turn"] = Field(
        "two_turn",
        description="the policy answers a question and then speaks as its user, or speaks as the user of a stored one",
    )
    prompts: dict[str, dict[str, Any]] = Field(
        description="files of train/prompts/, each with the options of its `load`; null leaves one out"
    )
    answer_tokens: int = Field(96, ge=1, description="limit of an answer, the closing token included")
    user_tokens: int = Field(48, ge=1, description="limit of a user turn, the closing token included")
    temperature: float = Field(1.0, gt=0.0, description="of sampling; log-probabilities are scaled by it too")
    max_episodes: int = Field(ge=1, description="episodes of the whole run; whole steps only")
    rewards: dict[str, Reward] = Field(
        description="files of train/rewards/, each with a weight and its options; null leaves one out"
    )
    judge: JudgePlugin = Field(description="judge that rewards: a file of eval/judges/, with its options")
    judge_s: float = Field(120.0, gt=0.0, description="seconds that judging a step may take; what is late is unknown")
    allow_same_judge: bool = Field(False, description="let the judge that evaluates reward as well")
    credit: Literal["turn", "episode"] = Field(
        "turn", description="whose tokens a reward's advantage is for: those of its own turn, or all of the episode"
    )
    accuracy_price: AccuracyPrice | None = Field(
        None, description="weight on accuracy that rises while accuracy is low (reward, margin, step, most)"
    )
    lora: Lora | None = Field(Lora(), description="adapters (r, alpha, dropout, targets); null trains all weights")
    dtype: Literal["float32", "bfloat16"] = Field("float32", description="precision that weights are held in")
    allow_slow: bool = Field(False, description="on a GPU, allow linear attention without its kernels")
    global_batch_size: int | None = Field(
        None, ge=1, description="episodes of one optimizer step over all processes; null: as trl's settings make it"
    )
    parallel: Parallel = Field("ddp", description="how several processes share the weights (train/parallel.py)")
    trl: dict[str, Any] = Field({}, description="settings of trl's GRPOConfig, such as learning_rate and beta")
    probe: Probe | None = Field(None, description="probe at checkpoints (every, tasks, guard and so on)")
    report_to: TrackerPlugin = Field(
        NOBODY, description="experiment tracker: none, wandb (project, group, mode) or trackio"
    )
    shown_episodes: int = Field(4, ge=0, description="episodes of each step in the tracker's table")
    seed: int = Field(0, ge=0, description="of adapters, the order of prompts, and every sampled token")
    data_dir: Path | None = Field(None, description="folder of data files; else $USERTURN_DATA, else the Hub")
    run_dir: Path = Field(description="folder of the run; an unfinished one goes on from its last checkpoint")
    dry_run: bool = Field(False, description="print what would be trained on, and stop")

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
                "lora.dropout must be 0 here: tokens would be sampled from other probabilities than are trained"
            )
        if self.lora is None and self.dtype != "float32":
            raise ConfigError(
                "lora is null and dtype is bfloat16: most updates are smaller than what bfloat16 resolves and would be "
                "lost; use dtype float32, and trl.bf16 to compute in bfloat16"
            )
        price = self.accuracy_price
        if price is not None and price.reward not in self.rewards:
            raise ConfigError(f"accuracy_price.reward is {price.reward!r}, which is none of the rewards")
        if price is not None and self.probe is None:
            raise ConfigError("accuracy_price needs a probe, which measures accuracy; set probe.tasks")
        if self.probe is not None:
            refuse_probe(self.parallel)
            self.probe_config(self.run_dir)  # so that a wrong task is told now
        return self

    def probe_config(self, run_dir: Path) -> ProbeConfig:
        """The configuration of the probe at checkpoints, as a probe of its own would have it."""
        assert self.probe is not None
        probe = self.probe.model_dump(include={"tasks", "answers", "sampling", "judge"})
        shared = {"model": self.model, "revision": self.revision, "format": self.format, "data_dir": self.data_dir}
        return ProbeConfig(name=self.name, seed=self.seed, run_dir=run_dir, **shared, **probe)
