"""How many processes a run is checked for: as given, as the Slurm job has GPUs, or as the run was started with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eval.checks.processes import planned_processes

JOB = {"SLURM_JOB_ID": "7", "SLURM_JOB_NUM_NODES": "2", "SLURM_GPUS_ON_NODE": "4"}


@pytest.fixture
def run_dir(tmp_path: Path) -> Path:
    (tmp_path / "manifest.json").write_text(json.dumps({"protocol": {"processes": 3}}))
    return tmp_path


def test_what_is_given_wins(run_dir) -> None:
    planned = planned_processes(16, run_dir, JOB)
    assert (planned.number, planned.source) == (16, "--processes")
    assert planned.launcher == ["torchrun", "--nproc-per-node", "16", "-m"]


def test_a_slurm_job_has_a_process_for_each_gpu(run_dir) -> None:
    planned = planned_processes(None, run_dir, JOB)
    assert planned.number == 8 and planned.source.startswith("2 nodes x 4 GPUs of Slurm job 7; --processes")
    on_each_node = "torchrun --nnodes 2 --node-rank RANK --master-addr HOST --nproc-per-node 4 -m"
    assert planned.launcher == on_each_node.split()


def test_a_slurm_job_without_gpus_has_a_process_for_each_node(run_dir) -> None:
    """As slurm/launch.sh starts them."""
    assert planned_processes(None, run_dir, {"SLURM_JOB_ID": "7", "SLURM_NNODES": "2"}).number == 2


def test_a_run_is_resumed_with_its_number(run_dir) -> None:
    planned = planned_processes(None, run_dir, {})
    assert (planned.number, planned.source) == (3, f"the number that the run in {run_dir} was started with")


@pytest.mark.parametrize("text", [None, "", "[]", "{}", '{"protocol": []}', '{"protocol": {"processes": "x"}}'])
def test_without_any_of_these_it_is_one(tmp_path, text) -> None:
    if text is not None:
        (tmp_path / "manifest.json").write_text(text)
    planned = planned_processes(None, tmp_path, {})
    assert planned.number == 1 and planned.launcher == ["python", "-m"]
