"""Nobody is told unless asked."""

from __future__ import annotations

from eval.tracker import NOBODY, Content, TrackedRun, open_tracker


def test_it_takes_everything_and_leaves_nothing(tmp_path) -> None:
    tracker = open_tracker(NOBODY, TrackedRun("SFT", "sft", tmp_path, {}))
    tracker.log(1, {"loss": 1.0})
    tracker.table(1, "episodes", ("a",), [[1]])
    tracker.used([Content("model", "ab", "x")])
    tracker.made([Content("model", "ab", "x")])
    tracker.files([tmp_path / "a"])
    tracker.close()
    assert not list(tmp_path.iterdir())
