"""Trains a fine-tuning run, from its last complete checkpoint or from the start, with its logs, checkpoints and probes.

Under a distributed launcher every process trains; only the main process probes and writes.
"""

from __future__ import annotations

import functools
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from eval import progress
from eval.tracker import Tracker
from train.adapters import trained_weights
from train.callbacks import LossLog, ProbeSchedule, Sealer
from train.checkpoints import last_checkpoint
from train.kernels import refuse_slow_path
from train.main_process import run_on_main
from train.preemption import train_until_preempted
from train.sft_parts import SftParts
from train.training_log import NoLog, TrainingLog
from train.training_run import Tell, language_model, measure

if TYPE_CHECKING:
    from trl import SFTTrainer


def train(
    parts: SftParts, folder: Path, log: TrainingLog | NoLog, tracker: Tracker, tell: Tell
) -> tuple[SFTTrainer, ProbeSchedule | None]:
    """Train to the last step, or until the guard stops training; returns the trainer and the probe's schedule.

    Raises:
        ConfigError: a loss or gradient is not finite, or a setting does not work.
        Preempted: a signal ended training; a checkpoint is saved.
    """
    from transformers.utils.logging import disable_progress_bar

    from train.sft_trainer import make_trainer
    from train.trainer_events import listener

    is_main = parts.arguments.process_index == 0
    disable_progress_bar()
    checkpoint = run_on_main(lambda: last_checkpoint(folder / "checkpoints"))
    done = int(checkpoint.name.rpartition("-")[2]) if checkpoint else 0
    model = parts.open_model()
    tell(trained_weights(model))
    trainer = make_trainer(model, parts.tokenizer, parts.arguments, parts.mixture.all)
    loss_log = LossLog(log, tracker, "inspect the examples with --show-mask")
    sealer = Sealer(folder / "checkpoints")
    refuse_slow_path(language_model(trainer), parts.config.allow_slow)
    schedule = _schedule(parts, trainer, folder / "probes", log, tracker, tell)
    with ExitStack() as stack:
        if is_main:
            display = progress.shown("training", parts.steps, done, unit="steps", note=lambda: loss_log.last)
            loss_log.advance = stack.enter_context(display)
        trainer.add_callback(listener(on_log=loss_log.on_log, on_save=sealer.on_save))
        if schedule is not None:
            trainer.add_callback(listener(**schedule.events))
        train_until_preempted(trainer, checkpoint)
    return trainer, schedule


def _schedule(
    parts: SftParts, trainer: SFTTrainer, folder: Path, log: TrainingLog | NoLog, tracker: Tracker, tell: Tell
) -> ProbeSchedule | None:
    settings = parts.config.probe
    if settings is None or parts.probe is None:
        return None
    measure_at = functools.partial(measure, parts.probe, trainer, parts.folder, parts.chat_format, parts.config.name)
    return ProbeSchedule(settings.every, lambda step: measure_at(step, folder), log, tracker, tell, settings.guard)
