"""A tracker is installed, has a key and reaches its server; else metrics stay on this machine, which is a warning."""

from __future__ import annotations

import pytest

from eval.checks.tracker_ready import tracker, tracker_checks
from eval.config import Plugin
from eval.tracker import NOBODY


@pytest.mark.parametrize(
    ("options", "key", "reachable", "status"),
    [
        ({}, True, True, "pass"),
        ({}, True, False, "warn"),
        ({}, False, True, "warn"),
        ({"mode": "offline"}, False, False, "pass"),
        ({"mode": "online"}, True, True, "pass"),
        ({"mode": "online"}, True, False, "fail"),
        ({"mode": "online"}, False, True, "fail"),
    ],
)
def test_wandb(monkeypatch, options, key, reachable, status) -> None:
    pytest.importorskip("wandb")
    monkeypatch.delenv("WANDB_MODE", raising=False)
    monkeypatch.setattr("eval.checks.tracker_ready.has_key", lambda: key)
    monkeypatch.setattr("eval.checks.tracker_ready.is_reachable", lambda: reachable)
    finding = tracker(Plugin(name="wandb", **options))
    assert finding.status == status and bool(finding.todo) is (status != "pass")


def test_offline_is_said_to_need_neither_key_nor_server(monkeypatch) -> None:
    pytest.importorskip("wandb")
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setattr("eval.checks.tracker_ready.is_reachable", lambda: pytest.fail("the server was asked"))
    assert tracker(Plugin(name="wandb")).status == "pass"


def test_what_is_not_installed_is_a_failure(monkeypatch) -> None:
    monkeypatch.setattr("eval.checks.tracker_ready.find_spec", lambda name: None)
    finding = tracker(Plugin(name="trackio"))
    assert finding.status == "fail" and "pip install trackio" in finding.todo
    assert "pip install '.[train]'" in tracker(Plugin(name="wandb")).todo


def test_nobody_needs_nothing() -> None:
    assert tracker_checks(NOBODY) == [] and len(tracker_checks(Plugin(name="wandb"))) == 1
