"""What a training run tells its tracker: what it is, what it was made from, what it made, and its files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Protocol

from eval.config import Plugin
from eval.tracker import Content, TrackedRun, Tracker, data_files, open_tracker

FILES = ("config.yaml", "manifest.json", "summary.json", "model/README.md")
"""Of a run folder, those that a tracker keeps."""


class Trained(Protocol):
    """What SFT and RL have in common, for a tracker."""

    @property
    def folder(self) -> Path: ...

    @property
    def model_id(self) -> str: ...

    @property
    def protocol(self) -> dict[str, Any]: ...


def begin(
    kind: Literal["sft", "rl"], name: str, report_to: Plugin, parts: Trained, folder: Path, files: Mapping[str, str]
) -> Tracker:
    """The tracker of the run in `folder`, told of the base model and of the data.

    Args:
        files: SHA-256 of each file of rows, by its path.

    Raises:
        ConfigError: the tracker is not installed, or its server refuses.
    """
    tracker = open_tracker(report_to, TrackedRun(name, kind, folder, parts.protocol))
    tracker.used([Content.of_model(parts.model_id, parts.folder), *data_files(files)])
    return tracker


def end(tracker: Tracker, folder: Path, summary: Mapping[str, Any]) -> None:
    """Tell the tracker of the model in `folder`, and give it the files of the run."""
    tracker.made([Content.of_model(summary["model"], folder / "model")])
    tracker.files(folder / name for name in FILES)
