"""A tracker gets a run's inputs and outputs; its id is in the run folder and in each checkpoint."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

from eval.config import validate
from eval.dashboard_spec import parts
from eval.weights import model_digest
from train.checkpoints import is_complete
from train.episode_metrics import METRICS
from train.sft_config import SftConfig
from train.sft_parts import open_parts
from train.sft_run import fine_tune

pytest.importorskip("wandb")
READER = runpy.run_path(str(Path(__file__).parent.parent / "eval" / "trackers" / "wandb_file.py"))


@pytest.fixture
def run_dir(tiny_folders, data_files, tmp_path, monkeypatch) -> Path:
    """The folder of a short fine-tuning with a probe, kept offline."""
    monkeypatch.setenv("WANDB_DATA_DIR", str(tmp_path / "staging"))
    values = {
        "model": str(tiny_folders["llama"]),
        "format": "smollm2",
        "data": str(data_files["data"]),
        "lora": {"r": 2},
        "trl": {"max_steps": 2, "save_steps": 1, "per_device_train_batch_size": 2},
        "probe": {"every": 2, "tasks": {"pocket": {"limit": 2}}, "answers": {"max_tokens": 4}, "judge": "grounding"},
        "report_to": {"name": "wandb", "project": "p", "group": "table2", "mode": "offline"},
        "run_dir": str(tmp_path / "run"),
    }
    fine_tune(open_parts(validate(SftConfig, values)), lambda line: None)
    return tmp_path / "run"


def test_what_a_fine_tuning_tells(run_dir, tiny_folders, data_files) -> None:
    offline = READER["OfflineRuns"](run_dir)
    (run,) = offline.runs
    assert (run.job_type, run.run_group, run.display_name) == ("sft", "table2", "SFT")
    assert [line["train/global_step"] for line in offline.history if "train/loss" in line] == [1, 2]
    probed = [line for line in offline.history if any(name.startswith("probe/") for name in line)]
    assert [line["train/global_step"] for line in probed] == [0, 2]
    base, made = model_digest(tiny_folders["llama"])[:12], model_digest(run_dir / "model")[:12]
    kinds = {artifact.name.split("-")[0] for artifact in offline.artifacts}
    assert f"model-{base}" in offline.used and f"model-{made}" in offline.made
    assert kinds == {"dataset", "model", "sft"}
    (files,) = [artifact for artifact in offline.artifacts if artifact.type == "sft_files"]
    names = {entry.path for entry in files.manifest.contents}
    assert names == {"config.yaml", "manifest.json", "summary.json", "README.md"}


def test_the_id_is_in_the_run_folder_and_in_each_checkpoint(run_dir) -> None:
    kept = (run_dir / "wandb_run_id").read_text()
    checkpoints = sorted((run_dir / "checkpoints").glob("checkpoint-*"))
    assert len(checkpoints) == 2
    assert {(path / "wandb_run_id").read_text() for path in checkpoints} == {kept}
    assert all(map(is_complete, checkpoints))


def test_the_dashboard_shows_metrics_that_a_policy_logs() -> None:
    """Patterns and names of its panels find the metrics of episodes, and of TRL's rewards."""
    pytest.importorskip("wandb_workspaces", reason="pip install '.[dashboard]'")
    logged = {"train/loss", "train/rewards/gsm8k/mean", *(f"train/{name}" for name in METRICS)}
    panels = [panel for part in parts(["gsm8k"]) for panel in part.panels if type(panel).__name__ == "LinePlot"]
    patterns = [panel.metric_regex for panel in panels if panel.metric_regex]
    named = {name for panel in panels for name in map(str, panel.y) if name.startswith("train/")}
    assert len(patterns) == 4 and named == {"train/loss", "train/distinct_share"} <= logged
    assert all(any(re.search(pattern, name) for name in logged) for pattern in patterns)
