"""The chain of Table 2: the real job files, from conversations to the table, and what a failure in it does."""

from __future__ import annotations

import json
import runpy
import subprocess
from pathlib import Path

import pytest
import yaml

pytestmark = pytest.mark.slurm

OfflineRuns = runpy.run_path(str(Path(__file__).parent.parent / "eval" / "trackers" / "wandb_file.py"))["OfflineRuns"]
JOBS = ("data_gen", "sft", "rl", "probe_base", "probe_trained", "merge", "cross", "table")


def configurations(model: Path, folder: Path) -> dict[str, str]:
    """Small configurations of the four commands, as slurm/table2.sh is told of them."""
    spoken = {"model": str(model), "format": "smollm2", "run_dir": "set by the chain"}
    few = {"per_device_train_batch_size": 4, "num_generations": 4, "learning_rate": 0.01, "weight_decay": 0.5}
    contents = {
        "DATA_CONFIG": {
            "name": "tiny",
            "conversations": 24,
            "exchanges": [2, 2],
            "seeds": {"written": {"limit": 12}, "arithmetic": {"limit": 12}},
            "filters": {"specific_share": None},
            "leak_check": {"tasks": ["pocket"]},
        },
        "SFT_CONFIG": {
            **spoken,
            "name": "SFT",
            "data": "set by the chain",
            "replay": {"path": "set by the chain", "share": 0.3},
            "trl": {"max_steps": 2, "per_device_train_batch_size": 2},
        },
        "RL_CONFIG": {
            **spoken,
            "name": "RL",
            "prompts": {"arithmetic": {"limit": 4}},
            "answer_tokens": 6,
            "user_tokens": 6,
            "max_episodes": 8,
            "rewards": {"gsm8k": {"weight": 1.0}, "followup": {"weight": 1.0, "rate": "specific"}},
            "judge": "grounding",
            "lora": None,
            "trl": few,  # no episode is worth anything, and decay alone makes another model of it
        },
        "PROBE_CONFIG": {
            **spoken,
            "answers": {"max_tokens": 6},
            "sampling": {"max_tokens": 6},
            "tasks": {"pocket": {"limit": 2}},
        },
    }
    paths = {name: folder / f"{name.lower()}.yaml" for name in contents}
    for name, path in paths.items():
        path.write_text(yaml.safe_dump({**contents[name], "report_to": "wandb"}), encoding="utf-8")
    return {name: str(path) for name, path in paths.items()}


def submit_chain(cluster, runs: Path, **environment: str) -> dict[str, str]:
    """The id of each job of the chain, by its name."""
    done = subprocess.run(
        ["bash", "slurm/table2.sh", str(runs)],
        cwd=cluster.repository,
        env=cluster.environment
        | {"GPUS_PER_NODE": "1", "JUDGE": "judge=local", "GATE": "pocket_math.genuine=100", "WANDB_MODE": "offline"}
        | environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    jobs = dict(line.split() for line in done.stdout.splitlines())
    assert tuple(jobs) == JOBS
    return jobs


def test_the_chain_ends_in_the_table(cluster, tiny_model_folder: Path, tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    jobs = submit_chain(cluster, runs, SHARDS="2", **configurations(tiny_model_folder, tmp_path))
    for name in JOBS:
        cluster.completes(jobs[name])
    rows = {"probe_base": 6, "probe_sft": 6, "probe_rl": 6, "cross_sft": 4, "cross_rl": 4}
    for name, count in rows.items():
        tasks = json.loads((runs / name / "summary.json").read_text())["tasks"]
        assert sum(task["total"] for task in tasks) == count, name
        assert sorted(path.name for path in (runs / name / "shards").iterdir()) == ["1-of-2", "2-of-2"]
    table = (runs / "table2" / "table2.md").read_text(encoding="utf-8")
    assert all(name in table for name in ("Base", "SFT", "RL"))
    assert (runs / "table2" / "report.html").stat().st_size > 10_000
    kept = [OfflineRuns(path.parents[2]) for path in runs.rglob("*.wandb")]
    assert len(kept) == 11 and {run.run_group for one in kept for run in one.runs} == {"runs"}
    started = {name: cluster.show(jobs[name])["StartTime"] for name in ("data_gen", "sft", "rl", "merge", "table")}
    assert list(started.values()) == sorted(started.values())


def test_a_job_that_fails_cancels_those_that_need_it(cluster, tiny_model_folder: Path, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text("no_such_field: 1", encoding="utf-8")
    given = configurations(tiny_model_folder, tmp_path) | {"SFT_CONFIG": str(wrong)}
    jobs = submit_chain(cluster, tmp_path / "runs", SHARDS="1", **given)
    cluster.run("scancel", jobs["probe_base"])
    states = {name: cluster.end(jobs[name]) for name in JOBS}
    assert states.pop("data_gen") == "COMPLETED" and states.pop("sft") == "FAILED"
    assert set(states.values()) == {"CANCELLED"}
    assert "no_such_field" in cluster.output(jobs["sft"])
