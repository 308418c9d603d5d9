"""The rewards in a summary: the means of the first and of the last steps."""

from __future__ import annotations

from pathlib import Path

from train.rl_run import ENDS, at_ends
from train.training_log import TrainingLog


def test_means_of_the_ends_with_the_last_line_of_a_step(tmp_path: Path) -> None:
    with TrainingLog(tmp_path / "log.jsonl") as log:
        log.append(1, {"rewards/followup/mean": 9.0})  # made a second time after a kill
        for step in range(1, 2 * ENDS + 1):
            log.append(step, {"loss": 0.0, "rewards/followup/mean": 0.1 if step <= ENDS else 0.5})
        log.append(2 * ENDS + 1, {"loss": 0.0, "rewards/followup/mean": None})
    found = at_ends(tmp_path / "log.jsonl", "rewards/followup/mean")
    assert {name: round(value, 6) for name, value in found.items()} == {"first": 0.1, "last": 0.5}


def test_a_reward_that_was_never_known_has_no_mean(tmp_path: Path) -> None:
    with TrainingLog(tmp_path / "log.jsonl") as log:
        log.append(1, {"loss": 0.0, "rewards/followup/mean": None})
    assert at_ends(tmp_path / "log.jsonl", "rewards/followup/mean") == {"first": None, "last": None}
