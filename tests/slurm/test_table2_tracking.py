"""What W&B holds of the chain of Table 2: its job files run here one after the other, without Slurm and offline."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("wandb")
HERE = Path(__file__).parent
OfflineRuns = runpy.run_path(str(HERE.parent / "eval" / "trackers" / "wandb_file.py"))["OfflineRuns"]
configurations = runpy.run_path(str(HERE / "test_table2.py"))["configurations"]

SBATCH = """
import os, subprocess, sys

words = sys.argv[1:]
job = next(place for place, word in enumerate(words) if word.endswith(".sh"))
options = dict(word.removeprefix("--").partition("=")[::2] for word in words[:job])
given = dict(pair.split("=") for pair in options.get("export", "").split(",") if "=" in pair)
first, _, last = options.get("array", "0-0").partition("-")
for task in range(int(first), int(last) + 1):
    told = {"SLURM_JOB_ID": "1", "SLURM_ARRAY_TASK_ID": str(task), "SLURM_JOB_NODELIST": "localhost"}
    subprocess.run(["bash", *words[job:]], check=True, stdout=sys.stderr, env=os.environ | told | given)
print(1)
"""
SRUN = """
import os, sys

words = sys.argv[1:]
command = next(place for place, word in enumerate(words) if not word.startswith("-"))
os.environ |= {"SLURM_STEP_NUM_NODES": "1", "SLURM_NODEID": "0"}
os.execvp(words[command], words[command:])
"""


def run_chain(repository: Path, folder: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run slurm/table2.sh with commands in place of Slurm's that run each job at once."""
    commands = {"sbatch": SBATCH, "srun": SRUN, "scontrol": "print('localhost')"}
    for name, text in commands.items():
        (folder / name).write_text(f"#!{sys.executable}\n{text}", encoding="utf-8")
        (folder / name).chmod(0o755)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("WANDB_", "SLURM"))}
    own = {"USERTURN_VENV": sys.prefix, "PATH": f"{sys.prefix}/bin:{folder}:{os.environ['PATH']}"}
    own |= {"HOME": str(folder), "NETRC": str(folder / "netrc"), "OMP_NUM_THREADS": "1", "SHARDS": "1"}
    own |= {"GPUS_PER_NODE": "1", "JUDGE": "judge=local", "GATE": "pocket_math.genuine=100"}
    return subprocess.run(
        ["bash", "slurm/table2.sh", *words],
        cwd=repository,
        env=kept | own | environment,
        capture_output=True,
        text=True,
        timeout=840,
    )


def test_a_dry_run_says_which_group_the_runs_are_in_and_how_offline_ones_are_sent(
    repository: Path, tmp_path: Path
) -> None:
    done = run_chain(repository, tmp_path, "--dry-run", "runs/first try/")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == "export WANDB_RUN_GROUP=first\\ try"
    assert "find runs/first\\ try/ -name '*.wandb' -exec wandb sync {} +" in done.stderr
    chosen = run_chain(repository, tmp_path, "--dry-run", WANDB_RUN_GROUP="mine")
    assert chosen.stdout.splitlines()[0] == "export WANDB_RUN_GROUP=mine"


@pytest.mark.integration
def test_the_chain_leaves_one_group_with_its_runs_tables_and_lineage(
    repository: Path, tiny_model_folder: Path, tmp_path: Path
) -> None:
    runs = tmp_path / "first_try"
    given = configurations(tiny_model_folder, tmp_path)
    done = run_chain(repository, tmp_path, str(runs), WANDB_PROJECT="ours", **given)
    assert done.returncode == 0, done.stderr[-6000:]
    folders = {path.parents[2] for path in runs.rglob("*.wandb")}
    kept = {str(folder.relative_to(runs)): OfflineRuns(folder) for folder in folders}
    described = {name: {(run.display_name, run.job_type) for run in one.runs} for name, one in kept.items()}
    assert described == {
        "data/work": {("tiny", "data_gen")},
        "sft": {("SFT", "sft")},
        "rl": {("RL", "rl")},
        "probe_base": {("Base", "eval")},
        "probe_sft": {("SFT", "eval")},
        "probe_rl": {("RL", "eval")},
        "cross_sft": {("SFT on answers of tiny", "eval")},
        "cross_rl": {("RL on answers of tiny", "eval")},
        "table2/.table2": {("table2", "eval")},
        "table2/paper/.paper_tables": {("paper_tables", "eval")},
        "table2/.report": {("report", "eval")},
    }
    assert {(run.project, run.run_group) for one in kept.values() for run in one.runs} == {("ours", "first_try")}
    check_lineage(kept)
    check_files(kept)


def check_lineage(kept: dict[str, Any]) -> None:
    """Data -> SFT -> RL -> evaluations -> tables, by what the artifacts hold."""
    made = {name: {one for one in runs.made if one.startswith(kinds)} for name, runs in kept.items()}
    used = {name: {one for one in runs.used if one.startswith(kinds)} for name, runs in kept.items()}
    assert len(made["data/work"]) == 2 and made["data/work"] <= used["sft"]
    (sft,), (rl,) = made["sft"], made["rl"]
    assert sft in used["rl"] and rl != sft
    for model, name in ((sft, "sft"), (rl, "rl")):
        assert model in used[f"probe_{name}"] & used[f"cross_{name}"]
        assert made["probe_base"] < used[f"cross_{name}"]
    probes = set().union(*(made[f"probe_{name}"] for name in ("base", "sft", "rl")))
    crossed = made["cross_sft"] | made["cross_rl"]
    assert used["table2/paper/.paper_tables"] == probes
    assert used["table2/.table2"] == used["table2/.report"] == probes | crossed and len(probes | crossed) == 5


kinds = ("dataset-", "model-", "rows-")


def check_files(kept: dict[str, Any]) -> None:
    """The rates of the dashboard, and the files of tables, figures and report."""
    assert all("eval/pocket_math/genuine" in kept[f"probe_{name}"].metrics for name in ("base", "sft", "rl"))
    files = {
        name: {entry.path for one in runs.artifacts if one.type == "eval_files" for entry in one.manifest.contents}
        for name, runs in kept.items()
    }
    assert {"table2.md", "table2.json"} <= files["table2/.table2"] and "report.html" in files["table2/.report"]
    assert any(name.endswith(".png") for name in files["table2/paper/.paper_tables"])
