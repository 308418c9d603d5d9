"""Configuration of one probe: model, chat format, engine, sampling, tasks and judge."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationInfo, field_validator

from eval import plugin
from eval.config import Config, Plugin, options_for
from eval.engine import Sampling
from eval.perturb import PERTURBATIONS
from eval.plugin_fields import EnginePlugin, FormatPlugin, JudgePlugin, TrackerPlugin
from eval.shard import Shard
from eval.tracker import NOBODY


class ProbeConfig(Config):
    """Configuration of `python -m eval.probe`."""

    name: str | None = Field(None, description="name of the row in the table, such as Base; else the model's")
    model: str = Field(description="model folder, or Hub id")
    revision: str | None = Field(None, description="commit, tag or branch of a Hub id")
    format: FormatPlugin = Field(description="chat family, a file of eval/formats/, with its options")
    history: Literal["as_history", "as_last"] = Field(
        "as_history",
        description="rendering of the answer before a user turn: as a past turn, or as naive code leaves it",
    )
    engine: EnginePlugin = Field(Plugin(name="transformers"), description="a file of eval/engines/, with its options")
    answers: Sampling = Field(Sampling(max_tokens=256), description="sampling of assistant turns, unless answers_from")
    sampling: Sampling = Field(Sampling(max_tokens=96), description="sampling of user turns")
    answers_from: Path | None = Field(
        None, description="finished run folder whose answers are used, of this model or of another (cross condition)"
    )
    perturbation: Plugin | None = Field(
        None, description="change of the answer before the user turn: a function of eval/perturb.py, with its options"
    )
    judge: JudgePlugin = Field(Plugin(name="local"), description="a file of eval/judges/, with its options")
    tasks: dict[str, dict[str, Any]] = Field(
        description="files of eval/tasks/, each with the options of its `load`; null leaves a task out"
    )
    report_to: TrackerPlugin = Field(
        NOBODY, description="experiment tracker: none, wandb (project, group, mode) or trackio"
    )
    seed: int = Field(0, ge=0, description="chooses the rows where a task has a limit")
    data_dir: Path | None = Field(None, description="folder of data files; else $USERTURN_DATA, else the Hub")
    shard: str | None = Field(
        None, description="I/N, I from 1: only every N-th row, in RUN_DIR/shards/I-of-N; eval.merge joins the N"
    )
    profile: bool = Field(False, description="write profile.pstats, for `python -m pstats`, into the run folder")
    run_dir: Path = Field(description="folder of results; an existing one of the same protocol is completed")

    @field_validator("shard")
    @classmethod
    def _shard_is_one(cls, shard: str | None) -> str | None:
        return None if shard is None else str(Shard.parse(shard))

    @field_validator("run_dir")
    @classmethod
    def _each_shard_has_a_folder(cls, run_dir: Path, others: ValidationInfo) -> Path:
        shard = others.data.get("shard")
        return Shard.parse(shard).folder(run_dir) if shard else run_dir

    @field_validator("perturbation")
    @classmethod
    def _perturbation_takes_its_options(cls, perturbation: Plugin | None) -> Plugin | None:
        if perturbation is None:
            return None
        if perturbation.name not in PERTURBATIONS:
            raise ValueError(f"no {perturbation.name!r} in eval/perturb.py; it has {', '.join(PERTURBATIONS)}")
        make = PERTURBATIONS[perturbation.name]
        options = options_for(make, perturbation.options, "perturbation", ours=["tokenizer"])
        return Plugin(name=perturbation.name, **options)

    @field_validator("tasks", mode="before")
    @classmethod
    def _null_leaves_a_task_out(cls, tasks: Any) -> Any:
        if not isinstance(tasks, dict):
            return tasks
        return {name: options for name, options in tasks.items() if options is not None}

    @field_validator("tasks")
    @classmethod
    def _tasks_take_their_options(cls, tasks: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
        if not tasks:
            raise ValueError(f"no task is chosen; eval/tasks has {', '.join(plugin.names('eval.tasks'))}")
        return {
            name: options_for(plugin.load("eval.tasks", name).load, options, f"tasks.{name}", ours=["seed", "data_dir"])
            for name, options in tasks.items()
        }
