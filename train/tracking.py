"""What a training run reports to its tracker: protocol, base model and data, the trained model, and files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Protocol

from eval.config import Plugin
from eval.tracker import Content, TrackedRun, Tracker, data_files, open_tracker

FILES = ("config.yaml", "manifest.json", "summary.json", "model/README.md")
"""Files of a run folder that are uploaded to the tracker."""


class Trained(Protocol):
    """What a tracker needs of the parts of an SFT or RL run."""

    @property
    def folder(self) -> Path: ...

    @property
    def model_id(self) -> str: ...

    @property
    def protocol(self) -> dict[str, Any]: ...


def begin(
    kind: Literal["sft", "rl"], name: str, report_to: Plugin, parts: Trained, folder: Path, files: Mapping[str, str]
) -> Tracker:
    """Open the tracker of the run in `folder` and report the base model and the data.

    Args:
        files: SHA-256 of each data file, by path.

    Raises:
        ConfigError: the tracker is not installed, or its server rejects the run.
    """
    tracker = open_tracker(report_to, TrackedRun(name, kind, folder, parts.protocol))
    tracker.used([Content.of_model(parts.model_id, parts.folder), *data_files(files)])
    return tracker


def end(tracker: Tracker, folder: Path, summary: Mapping[str, Any]) -> None:
    """Report the trained model in `folder` and upload the files of the run."""
    tracker.made([Content.of_model(summary["model"], folder / "model")])
    tracker.files(folder / name for name in FILES)
