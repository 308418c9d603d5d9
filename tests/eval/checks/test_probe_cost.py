"""What a probe lacks is reckoned with the judge's price, and with the speed of these weights or of earlier runs."""

from __future__ import annotations

import json

import pytest

from eval.checks import probe_cost
from eval.checks.probe_cost import lacking, probe_estimate, speed_of
from eval.probe_config import ProbeConfig
from eval.resources import load_tasks
from eval.sweep_config import Cell


@pytest.fixture
def cell(tiny_model, tmp_path) -> Cell:
    short = {"max_tokens": 4}
    config = ProbeConfig(
        model=str(tiny_model),
        format="smollm2",
        tasks={"arithmetic": {"limit": 3}},
        answers=short,
        sampling=short,
        run_dir=tmp_path,
    )
    return Cell("tiny", "tiny", config)


def test_tokens_and_dollars_of_all_cells(cell) -> None:
    work = lacking([cell, cell], load_tasks(cell.config))
    assert work.tokens == 2 * 3 * (4 + 4) and work.dollars == 0.0


def test_the_speed_of_an_earlier_session_is_used(cell, tmp_path) -> None:
    session = {"tokens": {"assistant": 60, "user": 20}, "seconds": {"assistant_turns": 3.0, "user_turns": 1.0}}
    (tmp_path / "manifest.json").write_text(json.dumps({"sessions": [session]}))
    speed, basis = speed_of(cell, load_tasks(cell.config), tmp_path)
    assert speed == 20.0 and "20 tokens/s in" in basis


def test_large_weights_are_not_run_on_a_cpu(cell, tiny_model, monkeypatch) -> None:
    monkeypatch.setattr(probe_cost, "device_here", lambda: None)
    monkeypatch.setattr(probe_cost, "HEAVY", 1)
    finding = probe_estimate([cell], load_tasks(cell.config), tiny_model)
    assert finding.status == "warn" and finding.told.startswith("hours unknown, 24 tokens")
