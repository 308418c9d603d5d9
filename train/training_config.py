"""Configuration that SFT and RL share: weights, adapters, processes, the probe during training, the tracker."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from eval.config import Config, ConfigError, Plugin
from eval.engine import Sampling
from eval.plugin_fields import FormatPlugin, JudgePlugin, TrackerPlugin
from eval.probe_config import ProbeConfig
from eval.tracker import NOBODY
from train.parallel import Parallel, refuse_probe

TARGETS = (
    r"(.*\.)?layers\.\d+\.(self_attn|linear_attn|mlp)\."
    r"(q_proj|k_proj|v_proj|o_proj|in_proj_qkv|in_proj_z|in_proj_a|in_proj_b|out_proj|gate_proj|up_proj|down_proj)"
)
"""Every projection of the language model's layers, including linear attention (three of four layers in Qwen3.5)."""


class Lora(Config):
    """Low-rank adapters, arXiv 2106.09685: W x + (alpha / r) B A x, where only A and B are trained."""

    r: int = Field(16, ge=1, description="rank")
    alpha: int = Field(32, ge=1, description="the adapter's output is scaled by alpha / r")
    dropout: float = Field(0.0, ge=0.0, lt=1.0, description="dropout probability of an adapter's input")
    targets: str = Field(TARGETS, description="regex that matches the full names of adapted modules")


class Guard(Config):
    """What to do when training costs accuracy."""

    points: float = Field(10.0, gt=0.0, description="percentage points by which accuracy on a task may fall")
    action: Literal["warn", "stop"] = Field("warn", description="warn, or stop training")


class Probe(Config):
    """A small greedy probe of the model in training: before the first step, at intervals and at the end."""

    every: int = Field(50, ge=1, description="optimizer steps between two probes")
    tasks: dict[str, dict[str, Any]] = Field(description="files of eval/tasks/, each with the options of its `load`")
    answers: Sampling = Field(Sampling(max_tokens=192), description="sampling of assistant turns")
    sampling: Sampling = Field(Sampling(max_tokens=64), description="sampling of user turns")
    judge: JudgePlugin = Field(Plugin(name="local"), description="a file of eval/judges/, with its options")
    guard: Guard | None = Field(None, description="what to do when accuracy falls (points, action)")


class TrainingConfig(Config):
    """Fields and checks of every training run."""

    name: str = Field(description="name of the trained model in tables")
    model: str = Field(description="model folder (a base model, or RUN_DIR/model of a run), or Hub id")
    revision: str | None = Field(None, description="commit, tag or branch of a Hub id")
    format: FormatPlugin = Field(description="chat family, a file of eval/formats/, with its options")
    lora: Lora | None = Field(Lora(), description="adapters (r, alpha, dropout, targets); null trains all weights")
    dtype: Literal["float32", "bfloat16"] = Field("float32", description="precision of the weights in memory")
    allow_slow: bool = Field(False, description="on a GPU, allow linear attention without its kernels")
    parallel: Parallel = Field("ddp", description="how several processes share the weights (train/parallel.py)")
    trl: dict[str, Any] = Field({}, description="settings of trl's trainer, such as learning_rate")
    probe: Probe | None = Field(None, description="probe at checkpoints (every, tasks, guard and so on)")
    report_to: TrackerPlugin = Field(
        NOBODY, description="experiment tracker: none, wandb (project, group, mode) or trackio"
    )
    seed: int = Field(0, ge=0, description="seed of everything random")
    data_dir: Path | None = Field(None, description="folder of data files; else $USERTURN_DATA, else the Hub")
    run_dir: Path = Field(description="folder of the run; an unfinished run resumes from its last checkpoint")

    @field_validator("trl")
    @classmethod
    def _numbers_are_numbers(cls, settings: dict[str, Any]) -> dict[str, Any]:
        """YAML reads 1e-4 as a string, and the command line only has strings."""
        return {name: _scalar(value) if isinstance(value, str) else value for name, value in settings.items()}

    @model_validator(mode="after")
    def _weights_and_probe_fit(self) -> Self:
        if self.lora is None and self.dtype != "float32":
            raise ConfigError(
                "lora is null and dtype is bfloat16: most updates are smaller than bfloat16 can represent and would be "
                "lost; use dtype float32, and trl.bf16 to compute in bfloat16"
            )
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


def _scalar(text: str) -> Any:
    """The number, boolean or null that `text` is in JSON, else `text`."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if value is None or isinstance(value, bool | int | float) else text
