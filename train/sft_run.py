"""Completes the run folder of a fine-tuning run: missing steps, model folder, model card, summary.

`log.jsonl` grows step by step, `checkpoints/` at intervals; `model/` appears complete or not at all; `summary.json` is
written last.
"""

from __future__ import annotations

from contextlib import closing
from typing import Any

from eval.client.spender import start_spending
from eval.run_dir import RunDir, write_atomically
from eval.trackers.none import Tracker as NoTracker
from eval.training_record import write_training_record
from eval.weights import model_id
from train.parallel import refuse_other_process_count
from train.sft_card import sft_card
from train.sft_parts import SftParts
from train.sft_training import train
from train.sharded_weights import gathered_weights
from train.tracking import begin, end
from train.training_log import NoLog, TrainingLog, losses
from train.training_run import SAMPLE, Tell, save

ENDS = 10
"""Largest number of steps at either end whose mean loss is reported; no step counts at both ends."""


def fine_tune(parts: SftParts, tell: Tell) -> dict[str, Any] | None:
    """Complete the run folder of `parts.config`; returns its summary, or None on all but the main process.

    Args:
        tell: shows the user one line of progress.

    Raises:
        ConfigError: a setting does not work, or the folder contains another run.
    """
    config, selection = parts.config, {"seed": parts.config.seed, "tasks": {}}
    if parts.arguments.process_index > 0:
        no_records = NoLog(config.run_dir / "log.jsonl"), NoTracker(), _discard
        gathered_weights(train(parts, config.run_dir, *no_records)[0])
        return None
    refuse_other_process_count(config.run_dir, parts.arguments.world_size)
    with (
        RunDir(config.run_dir, config, parts.protocol, selection, ("eval", "train")) as run,
        closing(begin("sft", config.name, config.report_to, parts, run.path, parts.data_files)) as tracker,
    ):
        run.measured["data_files"] = parts.data_files
        if parts.probe is not None:
            start_spending("probe_judge", parts.probe.judge, run.path)
        with TrainingLog(run.path / "log.jsonl") as log:
            with run.timed("training"):
                trainer, schedule = train(parts, run.path, log, tracker, tell)
            with run.timed("saving"):
                sample = [example.input_ids for example in parts.mixture.all[:SAMPLE]]
                save(trainer, parts.folder, config.lora is not None, sample, run.path)
        summary = {
            "model": model_id(config.name, run.path / "model"),
            "base": parts.model_id,
            "steps": trainer.state.global_step,
            "loss": loss_at_ends(losses(run.path / "log.jsonl")),
            "probe": schedule.summary if schedule else None,
        }
        write_atomically(run.path / "model" / "README.md", sft_card(parts, summary))
        write_training_record(run.path / "model", method="sft", base=parts.model_id)
        run.finish(summary)
        end(tracker, run.path, summary)
    return summary


def _discard(line: str) -> None: ...


def loss_at_ends(by_step: dict[int, float]) -> dict[str, float]:
    """The mean loss of the first and of the last steps."""
    values = [by_step[step] for step in sorted(by_step)]
    size = max(1, min(ENDS, len(values) // 2))
    return {"first": sum(values[:size]) / size, "last": sum(values[-size:]) / size}
