"""A tracker is installed and has a key, or its figures stay here, which is said."""

from __future__ import annotations

import pytest

from eval.checks.tracker_ready import tracker, tracker_checks
from eval.config import Plugin
from eval.tracker import NOBODY


@pytest.mark.parametrize(
    ("options", "key", "status"),
    [
        ({}, "k" * 40, "pass"),
        ({}, None, "warn"),
        ({"mode": "offline"}, None, "pass"),
        ({"mode": "online"}, None, "fail"),
        ({"mode": "online"}, "k" * 40, "pass"),
    ],
)
def test_wandb(monkeypatch, tmp_path, options, key, status) -> None:
    pytest.importorskip("wandb")
    monkeypatch.delenv("WANDB_MODE", raising=False)
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    monkeypatch.setenv("WANDB_API_KEY", key or "")
    assert tracker(Plugin(name="wandb", **options)).status == status


def test_what_is_not_installed_is_a_failure(monkeypatch) -> None:
    monkeypatch.setattr("eval.checks.tracker_ready.find_spec", lambda name: None)
    finding = tracker(Plugin(name="trackio"))
    assert finding.status == "fail" and "pip install trackio" in finding.todo
    assert "pip install '.[train]'" in tracker(Plugin(name="wandb")).todo


def test_nobody_needs_nothing() -> None:
    assert tracker_checks(NOBODY) == [] and len(tracker_checks(Plugin(name="wandb"))) == 1
