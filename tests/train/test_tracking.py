"""Figures go to Weights & Biases only where they are asked for; a resumed run goes on in the same one."""

from __future__ import annotations

import sys

import pytest

from eval.config import ConfigError
from train.sft_config import Wandb
from train.tracking import NoTracker, open_tracker


def test_nobody_is_told_unless_asked(tmp_path):
    tracker = open_tracker(None, "SFT", tmp_path, {})
    tracker.log(1, {"loss": 1.0})
    tracker.close()
    assert isinstance(tracker, NoTracker) and not list(tmp_path.iterdir())


def test_without_wandb_it_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "wandb", None)
    with pytest.raises(ConfigError, match=r"pip install 'userturn\[train\]', or --wandb null"):
        open_tracker(Wandb(project="p", mode="offline"), "SFT", tmp_path, {})


class Run:
    def __init__(self, **settings) -> None:
        self.id, self.url, self.settings = settings["id"], None, settings
        self.logged, self.metrics, self.finished = [], [], False

    def log(self, figures, step=None) -> None:
        assert step is None  # steps below the last one would be dropped
        self.logged.append(figures)

    def define_metric(self, name, step_metric=None) -> None:
        self.metrics.append((name, step_metric))

    def finish(self) -> None:
        self.finished = True


def test_a_table_is_on_the_axis_of_steps_too(tmp_path, monkeypatch):
    wandb = pytest.importorskip("wandb")
    runs = []
    monkeypatch.setattr(wandb, "init", lambda **settings: runs.append(Run(**settings)) or runs[-1])
    tracker = open_tracker(Wandb(project="p", mode="offline"), "RL", tmp_path, {})
    tracker.table(3, "episodes", ("step", "text"), [[3, "Why 12?"], (3, "Why?")])
    (logged,) = runs[0].logged
    assert logged["train/global_step"] == 3
    assert logged["episodes"].columns == ["step", "text"] and logged["episodes"].data == [[3, "Why 12?"], [3, "Why?"]]


def test_a_resumed_run_has_the_same_id_and_its_own_axis(tmp_path, monkeypatch):
    wandb = pytest.importorskip("wandb")
    runs = []
    monkeypatch.setattr(wandb, "init", lambda **settings: runs.append(Run(**settings)) or runs[-1])
    for step in (1, 2):
        tracker = open_tracker(Wandb(project="p", mode="offline"), "SFT", tmp_path, {"seed": 0})
        tracker.log(step, {"train": {"loss": 1.0, "unknown": None}, "probe": {"gsm8k": {"labels": {"other": 0.5}}}})
        tracker.close()
    first, second = runs
    assert first.id == second.id and first.settings["resume"] == "allow" and first.finished
    assert first.logged == [{"train/loss": 1.0, "probe/gsm8k/labels/other": 0.5, "train/global_step": 1}]
    assert ("*", "train/global_step") in first.metrics
    assert first.settings["mode"] == "offline" and first.settings["config"] == {"seed": 0}
