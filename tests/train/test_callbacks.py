"""The callbacks: logging, progress, probing at the right steps, and a guard that acts on a fall of accuracy."""

from __future__ import annotations

import os
import signal
from types import SimpleNamespace

import pytest

from eval.config import ConfigError
from eval.stats.rates import Rate
from train.callbacks import LossLog, ProbeSchedule, Sealer, accuracies_before, points_lost
from train.checkpoints import is_complete
from train.preemption import Preempted
from train.trainer_events import Stop
from train.training_config import Guard
from train.training_log import TrainingLog, read_log


def at(step: int) -> SimpleNamespace:
    return SimpleNamespace(global_step=step)


class Found:
    """What a probe found, as far as the schedule asks."""

    def __init__(self, right: int, n: int = 20, metrics: dict | None = None) -> None:
        self.accuracy = Rate(right, n)
        self.metrics = metrics or {"toy": {"genuine": 0.5, "accuracy": self.accuracy.point}}

    def pooled(self, name: str) -> Rate:
        assert name == "accuracy"
        return self.accuracy

    def __str__(self) -> str:
        return f"{self.accuracy.successes} right"


class Tracker:
    def __init__(self) -> None:
        self.logged: list = []

    def log(self, step, metrics) -> None:
        self.logged.append((step, metrics))


@pytest.fixture
def log(tmp_path):
    with TrainingLog(tmp_path / "log.jsonl") as log:
        yield log


def schedule(log, right: dict[int, int], guard=None, n: int = 20) -> ProbeSchedule:
    return ProbeSchedule(10, lambda step: Found(right[step], n), log, Tracker(), log_lines.append, guard)


log_lines: list[str] = []


@pytest.fixture(autouse=True)
def nothing_told():
    log_lines.clear()


def test_a_step_is_logged_tracked_and_counted(log):
    tracker, counted = Tracker(), []
    loss_log = LossLog(log, tracker, "see", advance=lambda: counted.append(1))
    loss_log.on_log(at(3), {"loss": 1.25, "grad_norm": 0.5})
    loss_log.on_log(at(3), {"train_runtime": 9.0})
    assert list(read_log(log.path)) == [{"step": 3, "loss": 1.25, "grad_norm": 0.5}]
    assert tracker.logged == [(3, {"train": {"loss": 1.25, "grad_norm": 0.5}})]
    assert counted == [1] and loss_log.last == "loss 1.250"


@pytest.mark.parametrize("metrics", [{"loss": float("nan")}, {"loss": 1.0, "grad_norm": float("inf")}])
def test_a_loss_that_is_not_finite_is_an_error(log, metrics):
    with pytest.raises(ConfigError, match=r"step 3: the loss is .* lower trl\.learning_rate, or see there"):
        LossLog(log, Tracker(), "see there").on_log(at(3), metrics)


def test_a_checkpoint_is_sealed(tmp_path):
    (tmp_path / "checkpoint-4").mkdir()
    Sealer(tmp_path).on_save(at(4))
    assert is_complete(tmp_path / "checkpoint-4")


def test_every_process_has_its_files_on_the_disk_before_the_first_one_seals(tmp_path, monkeypatch):
    written, before = [], []
    sync = os.fsync
    monkeypatch.setattr(os, "fsync", lambda file: (written.append(os.fstat(file).st_ino), sync(file))[1])
    monkeypatch.setattr("train.callbacks.wait_for_all", lambda: before.extend(written))
    monkeypatch.setattr("train.callbacks.run_on_main", lambda find: None)  # another process is the first
    part = tmp_path / "checkpoint-4" / "optimizer-1.pt"
    part.parent.mkdir()
    part.write_bytes(b"state")
    Sealer(tmp_path).on_save(at(4))
    assert part.stat().st_ino in before


def test_it_probes_before_at_and_after(log):
    watched = schedule(log, {0: 9, 10: 8, 20: 7, 25: 6})
    watched.on_train_begin(at(0))
    for step in range(1, 26):
        watched.on_step_end(at(step))
    watched.on_train_end(at(25))
    told = {"0": "9 right", "10": "8 right", "20": "7 right", "25": "6 right"}
    assert watched.summary == {"steps": told, "stopped": None}
    assert [line["accuracy"] for line in read_log(log.path)] == [[9, 20], [8, 20], [7, 20], [6, 20]]
    assert log_lines == [f"probe at step {step}: {found}" for step, found in told.items()]


def test_the_last_step_is_not_probed_twice(log):
    watched = schedule(log, {0: 9, 10: 8})
    watched.on_train_begin(at(0))
    watched.on_step_end(at(10))
    watched.on_train_end(at(10))
    assert len(log_lines) == 2


def test_a_resumed_run_compares_with_what_was_logged_before_training(log):
    schedule(log, {0: 18}).on_train_begin(at(0))
    resumed = schedule(log, {20: 10}, Guard(points=10, action="stop"))
    resumed.on_train_begin(at(15))
    assert resumed.before == {"toy": 0.9} == accuracies_before(log.path) and len(log_lines) == 1
    with pytest.raises(Stop):
        resumed.on_step_end(at(20))


def test_a_probe_that_a_signal_interrupted_is_made_before_the_next_step_and_only_then(log):
    watched = schedule(log, {0: 9})
    watched.on_train_begin(at(0))
    watched.measure = broken_off
    watched.on_step_end(at(10))  # the step is saved after it
    with pytest.raises(Preempted):
        watched.on_train_end(at(10))
    for _ in range(2):  # started again, and once more from the same checkpoint
        schedule(log, {10: 8}, Guard(points=20)).on_train_begin(at(10))
    assert log_lines == ["probe at step 0: 9 right", "probe at step 10: 8 right"]


@pytest.mark.parametrize("step", [10, 13])
def test_the_guard_acts_on_the_last_logged_probe_when_a_run_is_resumed(log, step):
    watched = schedule(log, {0: 18, 10: 5}, Guard(points=20, action="stop"))
    watched.on_train_begin(at(0))
    with pytest.raises(Stop):
        watched.on_step_end(at(10))
    resumed = schedule(log, {}, Guard(points=20, action="stop"))
    with pytest.raises(Stop):
        resumed.on_train_begin(at(step))
    assert resumed.summary["stopped"] == watched.summary["stopped"] is not None


def test_a_resumed_run_whose_probe_is_logged_and_within_bounds_trains_on(log):
    watched = schedule(log, {0: 18, 10: 17, 20: 3}, Guard(points=20, action="stop"))
    watched.on_train_begin(at(0))
    watched.on_step_end(at(10))
    with pytest.raises(Stop):
        watched.on_step_end(at(20))
    resumed = schedule(log, {}, Guard(points=20, action="stop"))
    resumed.on_train_begin(at(10))  # the probe at step 20 is of weights that are trained once more
    resumed.on_train_end(at(10))
    assert resumed.stopped is None


def broken_off(step: int) -> Found:
    raise Preempted(signal.SIGUSR1)


@pytest.mark.parametrize(("right", "acts"), [(18, False), (14, False), (13, True), (20, False)])
def test_the_guard_stops_when_accuracy_falls_by_more_than_its_points(log, right, acts, caplog):
    watched = schedule(log, {0: 18, 10: right}, Guard(points=20, action="stop"))
    watched.on_train_begin(at(0))
    if acts:
        with pytest.raises(Stop):
            watched.on_step_end(at(10))
        assert watched.stopped == "step 10: accuracy on toy fell by 25.0 points from before training, 20 are allowed"
    else:
        watched.on_step_end(at(10))
        assert watched.stopped is None
    assert ("training stops" in caplog.text) is acts


def test_the_guard_sees_a_fall_on_one_task_despite_a_rise_on_another(log, caplog):
    found = {0: {"math": 0.5, "style": 0.2, "chat": None}, 10: {"math": 0.3, "style": 0.9, "chat": None}}
    watched = schedule(log, {}, Guard(points=15))
    watched.measure = lambda step: Found(10, metrics={task: {"accuracy": rate} for task, rate in found[step].items()})
    watched.on_train_begin(at(0))
    watched.on_step_end(at(10))
    assert "accuracy on math fell by 20.0 points" in caplog.text


def test_the_guard_may_only_warn(log, caplog):
    watched = schedule(log, {0: 18, 10: 1}, Guard(points=20))
    watched.on_train_begin(at(0))
    watched.on_step_end(at(10))
    assert watched.stopped is None and "fell by 85.0 points" in caplog.text


def test_a_guard_without_a_graded_row_is_an_error(log):
    with pytest.raises(ConfigError, match="guard has no accuracy to compare"):
        schedule(log, {0: 0}, Guard(), n=0).on_train_begin(at(0))
    schedule(log, {0: 0}, n=0).on_train_begin(at(0))


def test_points_lost_are_unknown_where_a_rate_is():
    assert points_lost(Rate(1, 2), Rate(1, 4)) == 25
    assert points_lost(Rate(1, 4), Rate(1, 2)) == -25
    assert points_lost(Rate(1, 2), Rate(0, 0)) is None is points_lost(Rate(0, 0), Rate(1, 2))
