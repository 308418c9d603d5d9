"""Train what a run is made of, from its last whole checkpoint or from the start; whoever watches is attached here."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eval import progress
from eval.speaker import Speaker
from eval.speech.chat_format import ChatFormat
from eval.tracker import Tracker
from train.adapters import trained_weights
from train.callbacks import LossLog, ProbeSchedule, Sealer
from train.checkpoints import last_checkpoint
from train.divided_weights import whole
from train.held_out_probe import HeldOutProbe, Measured
from train.kernels import refuse_slow_path
from train.main_process import told_by_main
from train.preemption import PREEMPTION, train_until_preempted
from train.sft_parts import Parts
from train.training_log import NoLog, TrainingLog

if TYPE_CHECKING:
    from transformers import PreTrainedModel, Trainer
    from trl import SFTTrainer

Tell = Callable[[str], None]
"""Shows a person a line."""


def train(
    parts: Parts, folder: Path, log: TrainingLog | NoLog, tracker: Tracker, tell: Tell
) -> tuple[SFTTrainer, ProbeSchedule | None]:
    """Train to the last step, or until the guard stops it; returns the trainer and the probe's schedule.

    Under a distributed launcher every process trains; the first alone probes and is given something to write to.

    Raises:
        ConfigError: a loss is no number, or a setting cannot work.
        Preempted: a signal has ended training; a checkpoint is saved.
    """
    from transformers.utils.logging import disable_progress_bar

    from train.sft_trainer import make_trainer
    from train.trainer_events import listener

    first = parts.arguments.process_index == 0
    disable_progress_bar()
    checkpoint = told_by_main(lambda: last_checkpoint(folder / "checkpoints"))
    done = int(checkpoint.name.rpartition("-")[2]) if checkpoint else 0
    model = parts.open_model()
    tell(trained_weights(model))
    trainer = make_trainer(model, parts.tokenizer, parts.arguments, parts.mixture.all)
    loss_log = LossLog(log, tracker, "look at the examples with --show-mask")
    sealer = Sealer(folder / "checkpoints")
    refuse_slow_path(language_model(trainer), parts.config.allow_slow)
    schedule = _schedule(parts, trainer, folder / "probes", log, tracker, tell)
    with ExitStack() as stack:
        if first:
            shown = progress.shown("training", parts.steps, done, unit="steps", note=lambda: loss_log.last)
            loss_log.advance = stack.enter_context(shown)
        trainer.add_callback(listener(on_log=loss_log.on_log, on_save=sealer.on_save))
        if schedule is not None:
            trainer.add_callback(listener(**schedule.events))
        train_until_preempted(trainer, checkpoint)
    return trainer, schedule


def language_model(trainer: Trainer) -> PreTrainedModel:
    """The model in a trainer, with its adapters in place if it has any, and nothing wrapped around it."""
    from peft import PeftModel

    model: Any = trainer.accelerator.unwrap_model(trainer.model)
    base: Any = model.get_base_model() if isinstance(model, PeftModel) else model
    return base  # type: ignore[no-any-return]


def _schedule(
    parts: Parts, trainer: SFTTrainer, folder: Path, log: TrainingLog | NoLog, tracker: Tracker, tell: Tell
) -> ProbeSchedule | None:
    settings = parts.config.probe
    if settings is None or parts.probe is None:
        return None
    measured = functools.partial(measure, parts.probe, trainer, parts.folder, parts.chat_format, parts.config.name)
    return ProbeSchedule(settings.every, lambda step: measured(step, folder), log, tracker, tell, settings.guard)


def measure(
    probe: HeldOutProbe, trainer: Trainer, base: Path, chat_format: ChatFormat, name: str, step: int, folder: Path
) -> Measured:
    """Probe the model in a trainer as it is at `step`; its rows are kept below `folder`.

    The first process alone does it, and tells the others.

    Args:
        base: folder of the base model.
        name: of the run.
    """
    from train.model_in_training import ModelInTraining, generating

    model = language_model(trainer)
    at = f"step-{step:06d}"
    speaker = Speaker(ModelInTraining(base, model), chat_format, f"{name}@{at}")

    def measured() -> Measured:
        with generating(model), PREEMPTION.breaking_off(True):
            return probe.measure(speaker, folder / at)

    with whole(trainer):
        return told_by_main(measured)
