"""Training as a cluster runs it: the real job files, stopped and started again, on one node and on two."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from train.checkpoints import last_checkpoint
from train.training_log import read_log

pytestmark = pytest.mark.slurm

STEPS = 300
"""Ten seconds or more, so that a signal arrives before the end."""
SFT = (
    "configs/train/sft_smollm2.yaml replay=null trl.lr_scheduler_type=constant trl.warmup_steps=0 trl.save_steps=5 "
    "trl.learning_rate=0.01 lora.r=2"
)
Submit = Callable[..., str]


@pytest.fixture(scope="module")
def submit_sft(cluster, tiny_model_folder: Path, conversations: Path) -> Submit:
    """(run folder, options of sbatch, fields) -> the id of a job of slurm/sft.sh, by default on one GPU."""

    def submit(run_dir: Path, options: str = "--gpus-per-node=1", *fields: str) -> str:
        own = [f"model={tiny_model_folder}", f"data={conversations}", f"run_dir={run_dir}", *fields]
        return cluster.submit(*options.split(), "slurm/sft.sh", *SFT.split(), *own)

    return submit


@pytest.fixture(scope="module")
def undisturbed(cluster, submit_sft: Submit, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run that nothing stopped."""
    run_dir = tmp_path_factory.mktemp("undisturbed") / "run"
    cluster.completes(submit_sft(run_dir, "--gpus-per-node=1", *batch(2)))
    return run_dir


def batch(size: int, steps: int = STEPS) -> list[str]:
    return [f"trl.per_device_train_batch_size={size}", f"trl.max_steps={steps}"]


def figures(run_dir: Path) -> dict[int, dict[str, Any]]:
    """The last line of each step."""
    return {line["step"]: line for line in read_log(run_dir / "log.jsonl") if "loss" in line}


def made(run_dir: Path) -> int:
    """The number of lines of the log."""
    log = run_dir / "log.jsonl"
    return len(log.read_bytes().splitlines()) if log.exists() else 0


def assert_same(run_dir: Path, other: Path) -> None:
    here, there = figures(run_dir), figures(other)
    assert list(here) == list(there)
    for step, line in there.items():
        assert here[step] == pytest.approx(line, abs=1e-6), step


def test_a_job_goes_on_after_usr1_and_after_its_node_fails(
    cluster, submit_sft: Submit, undisturbed: Path, tmp_path: Path
) -> None:
    run_dir = tmp_path / "run"
    job = submit_sft(
        run_dir, "--gpus-per-node=1", *batch(2), "report_to=wandb", "report_to.project=p", "report_to.mode=offline"
    )

    cluster.wait(job, lambda: made(run_dir) >= 2, "making steps")
    cluster.run("scancel", "--signal=USR1", job)
    cluster.start_again(job)
    stopped_at = made(run_dir)
    assert stopped_at < STEPS and "stopped by SIGUSR1" in cluster.output(job)
    assert last_checkpoint(run_dir / "checkpoints").name == f"checkpoint-{stopped_at}"  # the step that was being made
    assert [line["step"] for line in read_log(run_dir / "log.jsonl")] == list(range(1, stopped_at + 1))

    cluster.wait(job, lambda: made(run_dir) >= stopped_at + 8, "making more steps")
    cluster.fail_node(job)
    newest = max((run_dir / "checkpoints").glob("checkpoint-*"), key=lambda path: int(path.name.rpartition("-")[2]))
    (newest / "optimizer.pt").write_bytes(b"half")  # as a kill in the middle of a save leaves it
    cluster.start_again(job)

    cluster.completes(job)
    assert "incomplete and is removed" in cluster.output(job)
    assert cluster.show(job)["Restarts"] == "2"
    assert_same(run_dir, undisturbed)
    run_id = (run_dir / "wandb_run_id").read_text().strip()
    sessions = list((run_dir / "wandb").glob("offline-run-*"))
    assert len(sessions) == 3 and all(session.name.endswith(run_id) for session in sessions)
    assert (run_dir / "model" / "model.safetensors").is_file()


def test_a_job_that_is_preempted_saves_makes_room_and_goes_on(
    cluster, submit_sft: Submit, undisturbed: Path, tmp_path: Path
) -> None:
    """A job of a partition with a higher priority needs its GPU; it has a grace time of two minutes, from TERM on."""
    run_dir = tmp_path / "run"
    job = submit_sft(run_dir, "--gpus-per-node=1", *batch(2), "trl.save_steps=1000")
    cluster.wait(job, lambda: made(run_dir) >= 2, "making steps")
    urgent = cluster.preempt()
    cluster.completes(urgent)
    assert cluster.states(job) == ["PENDING"]
    stopped_at = made(run_dir)
    assert stopped_at < STEPS and "stopped by SIGTERM" in cluster.output(job)
    assert last_checkpoint(run_dir / "checkpoints").name == f"checkpoint-{stopped_at}"
    cluster.start_again(job)
    cluster.completes(job)
    assert cluster.show(job)["Restarts"] == "1"
    assert_same(run_dir, undisturbed)


def test_two_nodes_take_the_steps_of_one_and_stop_together(
    cluster, submit_sft: Submit, undisturbed: Path, tmp_path: Path
) -> None:
    """One launcher on each node, gloo between them; half of the batch on each."""
    run_dir = tmp_path / "run"
    job = submit_sft(run_dir, "--nodes=2 --gpus-per-node=1", *batch(1))
    cluster.wait(job, lambda: made(run_dir) >= 2, "making steps")
    cluster.run("scancel", "--signal=USR1", job)
    cluster.start_again(job)
    assert made(run_dir) < STEPS and "stopped by SIGUSR1" in cluster.output(job)
    cluster.completes(job)
    assert cluster.show(job)["NumNodes"] == "2"
    one, two = figures(undisturbed), figures(run_dir)
    assert list(two) == list(range(1, STEPS + 1))
    for step, line in two.items():
        assert line["num_tokens"] == one[step]["num_tokens"], f"other rows in step {step}"
        # At such a rate sums in another order grow apart: from 1e-7 in the first steps to 1e-3 in the thirtieth.
        if step <= 30:
            assert line["loss"] == pytest.approx(one[step]["loss"], rel=1e-4 if step <= 6 else 1e-2), step


def test_reinforcement_learning_on_two_gpus_goes_on_after_usr1(
    cluster, tiny_model_folder: Path, tmp_path: Path
) -> None:
    run_dir, steps = tmp_path / "run", 12
    fields = (
        f"model={tiny_model_folder} run_dir={run_dir} prompts.arithmetic.limit=4 answer_tokens=6 user_tokens=6 "
        f"lora.r=2 max_episodes={8 * steps} trl.per_device_train_batch_size=4 trl.num_generations=4 trl.save_steps=100"
    )
    job = cluster.submit("--gpus-per-node=2", "slurm/rl.sh", "configs/demo/rl.yaml", *fields.split())
    cluster.wait(job, lambda: made(run_dir) >= 1, "making steps")
    cluster.run("scancel", "--signal=USR1", job)
    cluster.start_again(job)
    assert made(run_dir) < steps
    cluster.completes(job)
    assert [line["step"] for line in read_log(run_dir / "log.jsonl")] == list(range(1, steps + 1))
    assert json.loads((run_dir / "summary.json").read_text())["steps"] == steps


@pytest.mark.skipif(find_spec("vllm") is not None, reason="vLLM is installed: the server would come up")
def test_a_server_for_rollouts_that_does_not_come_up_ends_the_job(cluster, tiny_model_folder: Path) -> None:
    job = cluster.submit("--gpus-per-node=1", "slurm/rl_server.sh", tiny_model_folder, "configs/demo/rl.yaml")
    assert cluster.end(job) == "FAILED"
    said, last = cluster.output(job), cluster.nodes[-1]
    assert f"waiting for http://{last}:" in said and "the server has ended before it answered" in said
