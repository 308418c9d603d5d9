"""Trackio keeps metrics on this machine. It can't be pinned beside our other packages (pillow), so it may be absent."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from importlib.util import find_spec

import pytest

from eval.config import ConfigError, Plugin
from eval.tracker import TrackedRun, open_tracker

SCRIPT = """
import sys
from pathlib import Path
from eval.config import Plugin
from eval.tracker import TrackedRun, open_tracker
for steps in ((1, 2), (2, 3)):
    run = TrackedRun("SFT", "sft", Path(sys.argv[1]), {"seed": 0})
    tracker = open_tracker(Plugin(name="trackio", project="p"), run)
    for step in steps:
        tracker.log(step, {"train": {"loss": 1 / step}})
    tracker.table(step, "episodes", ("step",), [[step]] * 300)
    tracker.close()
"""


@pytest.mark.skipif(find_spec("trackio") is None, reason="trackio is not installed: pip install trackio")
def test_a_resumed_run_loses_no_step(tmp_path, monkeypatch, repository) -> None:
    monkeypatch.setenv("TRACKIO_DIR", str(tmp_path / "kept"))
    done = subprocess.run([sys.executable, "-c", SCRIPT, str(tmp_path)], cwd=repository, capture_output=True, text=True)
    assert done.returncode == 0 and not done.stdout, done.stderr
    with sqlite3.connect(tmp_path / "kept" / "p.db") as database:
        logged = "CAST(metrics AS TEXT) LIKE '%train/loss%'"
        rows = database.execute(f"SELECT run_name, step FROM metrics WHERE {logged} ORDER BY id").fetchall()
        names, steps = zip(*rows, strict=True)
    assert set(names) == {f"SFT-{(tmp_path / 'trackio_run_id').read_text().strip()}"}
    assert list(steps) == [1, 2, 2, 3]


def test_without_trackio_it_says_what_to_do(tmp_path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "trackio", None)
    with pytest.raises(ConfigError, match="pip install trackio"):
        open_tracker(Plugin(name="trackio"), TrackedRun("SFT", "sft", tmp_path, {}))
