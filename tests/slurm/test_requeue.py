"""How a job ends, with a real Slurm and commands that need no model: again in the queue, or not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from train.preemption import REQUEUE

pytestmark = pytest.mark.slurm


@pytest.fixture
def submit(cluster, tmp_path: Path) -> Callable[..., str]:
    """(shell command, options of sbatch) -> the id of a job that runs it as the job files run theirs."""

    def submitted(command: str, *options: str) -> str:
        script = tmp_path / "job.sh"
        shared, step = "source slurm/env.sh && source slurm/launch.sh", "step --ntasks-per-node=1"
        script.write_text(f"#!/usr/bin/env bash\n{shared}\n{step} bash -c '{command}'\n", encoding="utf-8")
        return cluster.submit("--requeue", "--open-mode=append", *options, script)

    return submitted


def test_training_that_asks_for_it_is_started_again_but_not_for_ever(cluster, submit) -> None:
    job = submit(f"echo start; exit {REQUEUE}", "--export=ALL,MAX_REQUEUES=2")
    for _ in range(2):
        cluster.start_again(job)
    assert cluster.end(job) == "FAILED"
    assert cluster.show(job)["Restarts"] == "2"
    said = cluster.output(job)
    assert said.count("start\n") == 3 and "was requeued 2 times (MAX_REQUEUES=2" in said


def test_a_launcher_that_is_ended_with_the_first_hides_no_wish_to_be_started_again(cluster, tmp_path: Path) -> None:
    """srun ends the other launchers when the first one has ended, and of all it tells of one that a signal ends."""
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    ends = f"[ ${{SLURM_RESTART_COUNT:-0}} = 0 ] || exit 0; [ $SLURM_NODEID = 1 ] || exec sleep 100; exit {REQUEUE}"
    python.write_text(f"#!/usr/bin/env bash\n{ends}\n", encoding="utf-8")
    python.chmod(0o755)
    job = cluster.submit("--nodes=2", "--gpus-per-node=1", f"--export=ALL,USERTURN_VENV={tmp_path}", "slurm/sft.sh")
    cluster.start_again(job)
    cluster.completes(job)


@pytest.mark.parametrize("limit", [None, 1])
def test_a_stage_that_usr1_ends_is_started_again_and_its_dependents_wait(cluster, submit, limit: int | None) -> None:
    """By `scancel`, and before a limit of a minute. Slurm checks every half minute, and sends a signal early, not late.

    With a longer lead the signal may come before there is a step to get it.
    """
    options = [f"--time={limit}", "--signal=USR1@20"] if limit else []
    job = submit("[ ${SLURM_RESTART_COUNT:-0} -gt 0 ] || { echo up; sleep 200; }", *options)
    after = cluster.submit(f"--dependency=afterok:{job}", "--kill-on-invalid-dep=yes", "--wrap", "true")
    if not limit:
        cluster.wait(job, lambda: "up" in cluster.output(job), "up")
        cluster.run("scancel", "--signal=USR1", job)
    cluster.start_again(job)
    cluster.completes(job, after)


def test_a_task_of_an_array_is_started_again_alone(cluster, submit) -> None:
    array = submit("exit $(( SLURM_ARRAY_TASK_ID == 1 && ${SLURM_RESTART_COUNT:-0} == 0 ? 138 : 0 ))", "--array=0-1")
    cluster.start_again(f"{array}_1")
    cluster.completes(array)
    assert [cluster.show(f"{array}_{number}").get("Restarts") for number in range(2)] == ["0", "1"]


def test_a_cancelled_job_and_a_failed_one_are_not_started_again(cluster, submit) -> None:
    cancelled = submit("echo up; sleep 60")
    failed = submit("exit 2")
    after = cluster.submit(f"--dependency=afterok:{failed}", "--kill-on-invalid-dep=yes", "--wrap", "true")
    cluster.wait(cancelled, lambda: "up" in cluster.output(cancelled), "up")
    cluster.run("scancel", cancelled)
    assert [cluster.end(job) for job in (cancelled, failed, after)] == ["CANCELLED", "FAILED", "CANCELLED"]
    assert cluster.show(failed)["ExitCode"] == "2:0"
    assert [cluster.show(job)["Restarts"] for job in (cancelled, failed)] == ["0", "0"]


def test_the_failure_of_a_node_starts_its_job_again(cluster, submit, tmp_path: Path) -> None:
    job = submit("[ ${SLURM_RESTART_COUNT:-0} -gt 0 ] || { echo up; sleep 200; }")
    cluster.wait(job, lambda: "up" in cluster.output(job), "up")
    cluster.fail_node(job)
    cluster.start_again(job)
    cluster.completes(job)


def test_a_preempted_job_is_started_again_and_not_so_when_it_is_cancelled_later(cluster, submit) -> None:
    """TERM announces both; a step of the kind of a probe dies of it, in the grace time."""
    job = submit("echo up; exec sleep 300", "--gpus-per-node=1")
    after = cluster.submit(f"--dependency=afterok:{job}", "--kill-on-invalid-dep=yes", "--wrap", "true")
    cluster.wait(job, lambda: "up" in cluster.output(job), "up")
    urgent = cluster.preempt()
    cluster.start_again(job)
    assert f"preempted: job {job} is requeued" in cluster.output(job)
    cluster.wait(job, lambda: cluster.output(job).count("up\n") == 2, "up again")
    cluster.run("scancel", job)
    assert [cluster.end(one) for one in (urgent, job, after)] == ["COMPLETED", "CANCELLED", "CANCELLED"]
    assert cluster.show(job)["Restarts"] == "1"


def test_a_job_that_slurm_itself_requeues_too_often_is_ended(cluster, submit) -> None:
    job = submit("echo up; sleep 200", "--export=ALL,MAX_REQUEUES=0")
    cluster.wait(job, lambda: "up" in cluster.output(job), "up")
    cluster.run("scontrol", "requeue", job)
    cluster.start_again(job)
    assert cluster.end(job) == "FAILED"
    assert "was requeued 1 times (MAX_REQUEUES=0" in cluster.output(job)
