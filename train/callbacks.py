"""Training callbacks: loss log, checkpoint seal, held-out probe, accuracy guard.

They listen to the trainer's events (`train/trainer_events.py`) and do not change training; only the guard may end it.
"""

from __future__ import annotations

import logging
import math
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from eval.config import ConfigError
from eval.run_dir import write_through
from eval.stats.rates import Rate
from eval.tracker import Tracker
from train.checkpoints import seal
from train.held_out_probe import Measured
from train.main_process import run_on_main, wait_for_all
from train.preemption import Preempted
from train.trainer_events import Stop
from train.training_config import Guard
from train.training_log import NoLog, TrainingLog, read_log

logger = logging.getLogger(__name__)


@dataclass
class LossLog:
    """Writes the metrics of each step to the log and the tracker, and advances the progress display."""

    log: TrainingLog | NoLog
    tracker: Tracker
    advice: str
    """What else to do about a loss that is not finite; ends the error message."""
    advance: Callable[[], None] = lambda: None
    """Advances the progress display by one step."""
    note: Callable[[dict[str, Any]], str] = lambda logs: f"loss {logs['loss']:.3f}"
    """The display's text for a step."""
    last: str = ""
    """The text of the last step."""

    def on_log(self, state: Any, logs: dict[str, Any]) -> None:
        """Log the metrics of a step.

        Raises:
            ConfigError: the loss or the gradient norm is not finite, so all later steps would be lost.
        """
        if "loss" not in logs:
            return  # the trainer's summary at the end
        step, loss, norm = state.global_step, logs["loss"], logs.get("grad_norm", 0.0)
        self.log.append(step, logs)
        if not math.isfinite(loss) or not math.isfinite(norm):
            raise ConfigError(
                f"step {step}: the loss is {loss} and the gradient norm {norm}; lower trl.learning_rate, "
                f"or {self.advice}"
            )
        self.tracker.log(step, {"train": logs})
        self.last = self.note(logs)
        self.advance()


@dataclass
class Sealer:
    """Marks each checkpoint as complete once every process has written its part."""

    folder: Path

    def on_save(self, state: Any) -> None:
        checkpoint = self.folder / f"checkpoint-{state.global_step}"
        write_through(checkpoint)  # on every node: the main process cannot flush what others wrote
        wait_for_all()
        run_on_main(lambda: self._seal(checkpoint))

    def _seal(self, checkpoint: Path) -> None:
        for run_id in self.folder.parent.glob("*_run_id"):  # of trackers, to resume from a copy of the checkpoint alone
            shutil.copy(run_id, checkpoint)
        seal(checkpoint)


@dataclass
class ProbeSchedule:
    """Probes before the first step, every `every` steps and at the end; reports the results and applies the guard."""

    every: int
    measure: Callable[[int], Measured]
    """Probes the current model; takes the step."""
    log: TrainingLog | NoLog
    tracker: Tracker
    tell: Callable[[str], None]
    guard: Guard | None
    probed: set[int] = field(default_factory=set)
    """Steps at which this process has probed."""
    stopped: str | None = None
    """Why the guard ended training, if it did."""
    before: dict[str, float] = field(default_factory=dict)
    """Accuracy on each task before the first step; tasks without graded answers are absent."""

    @property
    def events(self) -> dict[str, Callable[..., None]]:
        """The trainer's events that this listens to."""
        events = (self.on_train_begin, self.on_step_end, self.on_train_end)
        return {event.__name__: event for event in events}

    @property
    def summary(self) -> dict[str, Any]:
        """The results of each probe of the run, and why training was stopped, if it was."""
        return {"steps": logged_probes(self.log.path), "stopped": self.stopped}

    def on_train_begin(self, state: Any) -> None:
        step = state.global_step
        self.before = accuracies(self._probe(0).metrics) if step == 0 else accuracies_before(self.log.path)
        if self.guard is not None and not self.before:
            raise ConfigError(
                "probe.guard has no accuracy to compare: no answer to the rows of probe.tasks is graded; choose tasks "
                "that grade answers, or set probe.guard to null"
            )
        if step == 0:
            return
        logged, metrics = run_on_main(lambda: last_probe(self.log.path, step))
        if step % self.every == 0 and logged != step:
            self._probe_and_guard(step)  # a signal interrupted this probe in an earlier process
        else:
            self.probed.add(logged)
            self._apply_guard(logged, metrics)

    def on_step_end(self, state: Any) -> None:
        if state.global_step % self.every == 0:
            with suppress(Preempted):  # the probe resumes when training does, before the next step
                self._probe_and_guard(state.global_step)

    def on_train_end(self, state: Any) -> None:
        if state.global_step not in self.probed:
            self._probe_and_guard(state.global_step)

    def _probe_and_guard(self, step: int) -> None:
        self._apply_guard(step, self._probe(step).metrics)

    def _apply_guard(self, step: int, metrics: Mapping[str, Mapping[str, Any]]) -> None:
        now = accuracies(metrics)
        falls = [(round(100 * (self.before[task] - now[task]), 6), task) for task in self.before.keys() & now.keys()]
        if self.guard is None or not falls:
            return
        fall, task = max(falls)  # per task: in pooled accuracy, a rise on another task would hide it
        allowed = self.guard.points
        if fall <= allowed:
            return
        problem = f"accuracy on {task} fell by {fall:.1f} points from before training, {allowed:g} are allowed"
        if self.guard.action == "warn":
            logger.warning("step %d: %s", step, problem)
            return
        self.stopped = f"step {step}: {problem}"
        logger.warning("%s; training stops", self.stopped)
        raise Stop

    def _probe(self, step: int) -> Measured:
        measured = self.measure(step)
        self.probed.add(step)
        accuracy = measured.pooled("accuracy")
        self.log.append(
            step,
            {
                "probe": measured.metrics,
                "accuracy": [accuracy.successes, accuracy.n],
                "told": str(measured),
            },
        )
        self.tracker.log(step, {"probe": measured.metrics})
        self.tell(f"probe at step {step}: {measured}")
        return measured


def points_lost(before: Rate, now: Rate) -> float | None:
    """Percentage points by which a rate fell, negative if it rose; None if either is unknown."""
    if before.point is None or now.point is None:
        return None
    return round(100 * (before.point - now.point), 6)


def accuracies(metrics: Mapping[str, Mapping[str, Any]]) -> dict[str, float]:
    """A probe's accuracy on each task that has graded answers."""
    return {task: values["accuracy"] for task, values in metrics.items() if values["accuracy"] is not None}


def accuracies_before(log: Path) -> dict[str, float]:
    """The accuracy on each task before the first step, as logged by an earlier process of this run."""
    for line in read_log(log):
        if line["step"] == 0 and "probe" in line:
            return accuracies(line["probe"])
    return {}


def last_probe(log: Path, step: int) -> tuple[int, dict[str, Any]]:
    """Step and metrics of the last probe logged up to `step`; (0, {}) if there is none."""
    logged = {line["step"]: line["probe"] for line in read_log(log) if "probe" in line and line["step"] <= step}
    last = max(logged, default=0)
    return last, logged.get(last, {})


def logged_probes(log: Path) -> dict[str, str]:
    """The results of each logged probe as text, by step."""
    return {str(line["step"]): line["told"] for line in read_log(log) if "probe" in line}
