"""Logs a finished data set to the experiment tracker: how much was kept, its inputs, its files and their digests."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

from data_gen.data_set import MANIFEST
from data_gen.filtering import Filtered
from data_gen.generate_config import GenerateConfig
from eval.data_files import files_read
from eval.tracker import Content, TrackedRun, data_files, open_tracker, reporting

TRAINED_ON = ("conversations.jsonl", "solutions.jsonl")


def log_data_set(config: GenerateConfig, folder: Path, filtered: Filtered) -> None:
    """Log the data set in `folder` to the configured tracker; an error is a warning."""
    work = folder / "work"
    run = TrackedRun(config.name, "data_gen", work, _settings(config))
    with reporting(config.report_to), closing(open_tracker(config.report_to, run)) as tracker:
        made = len(filtered.kept) + len(filtered.rejects)
        reasons = filtered.reasons()
        tracker.used(data_files(files_read()))
        tracker.log(made, {"data": {"kept": len(filtered.kept), "share_kept": len(filtered.kept) / made}})
        tracker.table(made, "data/rejected", ("reason", "conversations"), sorted(reasons.items()))
        digests = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))["files"]
        tracker.made(Content("dataset", digests[name]["sha256"], str(folder / name)) for name in TRAINED_ON)
        tracker.files([work / "config.yaml", folder / MANIFEST, folder / "README.md"])


def _settings(config: GenerateConfig) -> dict[str, object]:
    return config.model_dump(mode="json", exclude={"report_to", "dry_run", "retry_failed"})
