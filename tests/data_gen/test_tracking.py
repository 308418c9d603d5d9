"""A finished data set is logged with what was kept and with the digests by which training identifies it."""

from __future__ import annotations

import hashlib
import runpy
from pathlib import Path

import pytest

from data_gen.data_set_run import generate
from data_gen.generate_config import GenerateConfig
from eval import progress

pytest.importorskip("wandb")
READER = runpy.run_path(str(Path(__file__).parent.parent / "eval" / "trackers" / "wandb_file.py"))


def test_a_data_set_is_logged(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("WANDB_DATA_DIR", str(tmp_path / "staging"))
    config = GenerateConfig(
        name="small",
        out_dir=tmp_path / "small",
        conversations=12,
        seeds={"written": {}},
        judge="grounding",
        leak_check={"tasks": ["pocket"]},
        report_to={"name": "wandb", "project": "p", "group": "table2", "mode": "offline"},
    )
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
