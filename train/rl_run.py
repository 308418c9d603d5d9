"""Completes the run folder of a reinforcement-learning run: missing steps, model folder, model card, summary.

`log.jsonl` and `episodes.jsonl` grow step by step, `checkpoints/` at intervals; `model/` appears complete or not at
all; `summary.json` is written last.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, closing
from pathlib import Path
from typing import Any

from eval import progress
from eval.client.spender import start_spending
from eval.data_files import files_read
from eval.run_dir import RunDir, write_atomically
from eval.trackers.none import Tracker as NoTracker
from eval.training_record import write_training_record
from eval.weights import model_id
from train.episode_log import EpisodeLog
from train.parallel import refuse_other_process_count
from train.rl_card import rl_card
from train.rl_parts import RlParts
from train.rl_training import Records, train
from train.sharded_weights import gathered_weights
from train.tracking import begin, end
from train.training_log import NoLog, TrainingLog, read_log
from train.training_run import SAMPLE, Tell, save

ENDS = 10
"""Number of steps at either end whose mean rewards are reported."""


def reinforce(parts: RlParts, tell: Tell) -> dict[str, Any] | None:
    """Complete the run folder of `parts.config`; returns its summary, or None on all but the main process.

    Args:
        tell: shows the user one line of progress.

    Raises:
        ConfigError: a setting does not work, or the folder contains another run.
    """
    config, arguments = parts.config, parts.arguments
    if arguments.process_index > 0:
        no_records = Records(NoLog(config.run_dir / "log.jsonl"), NoTracker(), None, lambda line: None, _hidden)
        gathered_weights(train(parts, config.run_dir, no_records)[0])
        return None
    refuse_other_process_count(config.run_dir, arguments.world_size)
    selection = {"seed": config.seed, "tasks": {}}
    with (
        RunDir(config.run_dir, config, parts.protocol, selection, ("eval", "train")) as run,
        closing(begin("rl", config.name, config.report_to, parts, run.path, files_read())) as tracker,
    ):
        run.measured["data_files"] = files_read()
        start_spending("judge", parts.judge, run.path)
        if parts.probe is not None:
            start_spending("probe_judge", parts.probe.judge, run.path)
        with (
            TrainingLog(run.path / "log.jsonl") as log,
            EpisodeLog(run.path / "episodes.jsonl") as episodes,
        ):
            try:
                with run.timed("training"):
                    trainer, schedule = train(parts, run.path, Records(log, tracker, episodes, tell, _shown))
            finally:
                run.measured["judge"] = parts.judge.measured
            with run.timed("saving"):
                sample = [_ids(parts, row.dialogue.messages) for row in list(parts.prompts.values())[:SAMPLE]]
                save(trainer, parts.folder, config.lora is not None, sample, run.path)
        summary = {
            "model": model_id(config.name, run.path / "model"),
            "base": parts.model_id,
            "reward_judge": parts.judge.id,
            "steps": trainer.state.global_step,
            "rewards": {name: at_ends(run.path / "log.jsonl", f"rewards/{name}/mean") for name in config.rewards},
            "probe": schedule.summary if schedule else None,
        }
        write_atomically(run.path / "model" / "README.md", rl_card(parts, summary))
        write_training_record(run.path / "model", method="grpo", base=parts.model_id, reward_judge=parts.judge.id)
        run.finish(summary)
        end(tracker, run.path, summary)
    return summary


def _shown(total: int, done: int, note: Callable[[], str]) -> AbstractContextManager[progress.Advance]:
    return progress.shown("training", total, done, unit="steps", note=note)


def _hidden(total: int, done: int, note: Callable[[], str]) -> AbstractContextManager[progress.Advance]:
    return progress.silent("training", total, done)


def at_ends(log: Path, metric: str) -> dict[str, float | None]:
    """The mean of a metric over the first and over the last steps."""
    by_step = {line["step"]: line[metric] for line in read_log(log) if line.get(metric) is not None}
    values = [by_step[step] for step in sorted(by_step)]
    return {"first": _mean(values[:ENDS]), "last": _mean(values[-ENDS:])}


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _ids(parts: RlParts, messages: Any) -> list[int]:
    return parts.chat_format.open_turn(messages, "assistant" if parts.boundary else "user")
