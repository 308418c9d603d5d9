"""A finished data set is logged with what was kept and with the digests by which training identifies it."""

from __future__ import annotations

import hashlib
import runpy
from pathlib import Path

import pytest

from data_gen.data_set_run import generate
from data_gen.generate_config import GenerateConfig
from eval import progress
from eval.config import ConfigError

pytest.importorskip("wandb")
READER = runpy.run_path(str(Path(__file__).parent.parent / "eval" / "trackers" / "wandb_file.py"))


def small(tmp_path: Path) -> GenerateConfig:
    return GenerateConfig(
        name="small",
        out_dir=tmp_path / "small",
        conversations=12,
        seeds={"written": {}},
        judge="grounding",
        leak_check={"tasks": ["pocket"]},
        report_to={"name": "wandb", "project": "p", "group": "table2", "mode": "offline"},
    )


def test_a_data_set_is_logged(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("WANDB_DATA_DIR", str(tmp_path / "staging"))
    config = small(tmp_path)
    data_set = generate(config, progress.silent)
    runs = READER["OfflineRuns"](data_set.folder / "work")
    (run,) = runs.runs
    assert (run.job_type, run.run_group, run.display_name) == ("data_gen", "table2", "small")
    (line,) = [line for line in runs.history if "data/kept" in line]
    assert line["data/conversations"] == 12 and 0 < line["data/kept"] <= 12
    digest = hashlib.sha256((data_set.folder / "conversations.jsonl").read_bytes()).hexdigest()
    assert f"dataset-{digest[:12]}" in runs.made
    (files,) = [artifact for artifact in runs.artifacts if artifact.type == "data_gen_files"]
    assert {entry.path for entry in files.manifest.contents} == {"config.yaml", "manifest.json", "README.md"}


def test_a_data_set_that_cannot_be_reported_is_complete(tmp_path, monkeypatch, caplog) -> None:
    def refuse(*given: object) -> None:
        raise ConfigError("no server")

    monkeypatch.setattr("data_gen.tracking.open_tracker", refuse)
    folder = generate(small(tmp_path), progress.silent).folder
    assert (folder / "manifest.json").is_file()
    assert "not reported to wandb: ConfigError: no server" in caplog.text
