"""What the job files share, in a shell of its own: no Slurm is needed for it."""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from train.rl_config import RlConfig

SHARED, OWN = ["--config", "p.yaml", "seed=1"], [["name=A"], ["name=B", "model=m x"]]
SERVER = """
import http.server, sys, time
time.sleep(float(sys.argv[2]))
http.server.test(http.server.SimpleHTTPRequestHandler, port=int(sys.argv[1]), bind="127.0.0.1")
"""


def shell(repository: Path, script: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run `script` with what the job files source."""
    return subprocess.run(
        ["bash", "-c", f"source slurm/env.sh && source slurm/launch.sh\n{script}", "bash", *arguments],
        cwd=repository,
        env={"PATH": "/usr/bin:/bin", "HOME": "/nowhere", "USERTURN_VENV": sys.prefix, **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )


def lines(done: subprocess.CompletedProcess[str]) -> list[str]:
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.fixture
def server() -> list[str]:
    """The command of an HTTP server on a free port; its last arguments are the port and how late it answers."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return [sys.executable, "-c", SERVER, str(free.getsockname()[1])]


def test_every_job_file_is_a_shell_script(repository: Path) -> None:
    files = sorted((repository / "slurm").glob("*.sh"))
    assert {path.name for path in files} >= {"env.sh", "sft.sh", "rl.sh", "eval.sh", "data_gen.sh", "table2.sh"}
    for path in files:
        assert subprocess.run(["bash", "-n", str(path)]).returncode == 0, path
    if shutil.which("shellcheck"):
        checked = subprocess.run(["shellcheck", "-x", *map(str, files)], cwd=repository, capture_output=True, text=True)
        assert checked.returncode == 0, checked.stdout


def test_a_job_file_has_its_headers_and_says_how_it_is_submitted(repository: Path) -> None:
    jobs = [path for path in sorted((repository / "slurm").glob("*.sh")) if "#SBATCH" in path.read_text("utf-8")]
    assert len(jobs) >= 7
    for path in jobs:
        text = path.read_text(encoding="utf-8")
        headers = {line.split()[1].partition("=")[0] for line in text.splitlines() if line.startswith("#SBATCH")}
        assert headers >= {"--job-name", "--time", "--mem", "--requeue", "--open-mode", "--output"}, path
        assert f"sbatch slurm/{path.name}" in text or f"] slurm/{path.name}" in text, path


def test_env_leaves_unset_what_a_site_has_not_set(repository: Path) -> None:
    unset, given = 'echo "${SBATCH_ACCOUNT-none} ${USERTURN_DATA-none} $MAX_REQUEUES"', {"SBATCH_ACCOUNT": "lab"}
    assert lines(shell(repository, unset)) == ["none none 20"]
    assert lines(shell(repository, unset, **given, MAX_REQUEUES="3")) == ["lab none 3"]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([], ["--config", "default.yaml"]),
        (["a.yaml"], ["--config", "a.yaml"]),
        (["a.yaml", "seed=1", "name=x y"], ["--config", "a.yaml", "seed=1", "name=x y"]),
        (["seed=1"], ["--config", "default.yaml", "seed=1"]),
        (["replay.path=x.yaml"], ["--config", "default.yaml", "replay.path=x.yaml"]),
        (["runs/lr=1/a.yml", "seed=1"], ["--config", "runs/lr=1/a.yml", "seed=1"]),
    ],
)
def test_without_a_file_the_default_configuration_runs(repository: Path, given: list[str], expected: list[str]) -> None:
    script = 'with_config default.yaml "$@"; printf "%s\\n" "${ARGUMENTS[@]}"'
    assert lines(shell(repository, script, *given)) == expected


@pytest.mark.parametrize("models", [0, 1, 2])
def test_a_task_of_an_array_has_one_shard_of_one_model(repository: Path, models: int) -> None:
    groups = [word for own in OWN[:models] for word in ("--", *own)]
    script = 'share_of_array 3 "$@"; printf "%s\\n" "${ARGUMENTS[@]}"'
    for task in range(3 * max(models, 1)):
        own = OWN[task // 3] if models else []
        found = lines(shell(repository, script, *SHARED, *groups, SLURM_ARRAY_TASK_ID=str(task)))
        assert found == [*SHARED, *own, f"shard={task % 3 + 1}/3"]
    beyond = shell(repository, script, *SHARED, *groups, SLURM_ARRAY_TASK_ID=str(3 * max(models, 1)))
    assert beyond.returncode == 2 and f"sbatch --array=0-{3 * max(models, 1) - 1}" in beyond.stderr


def test_what_needs_a_server_waits_until_it_answers_and_ends_it(repository: Path, server: list[str]) -> None:
    script = f"""
        "$@" 1 & server=$!
        wait_for_health http://127.0.0.1:{server[-1]}/ "$server" && echo healthy
        beside "$server" bash -c 'echo trained; exit 7' || echo "status $?"
        kill -0 "$server" 2>/dev/null || echo ended
    """
    assert lines(shell(repository, script, *server)) == ["healthy", "trained", "status 7", "ended"]


def test_a_server_that_ends_before_it_answers_is_not_waited_for(repository: Path, server: list[str]) -> None:
    script = f"""
        bash -c 'exit 3' & server=$!
        wait_for_health http://127.0.0.1:{server[-1]}/ "$server" || echo "status $?"
    """
    done = shell(repository, script)
    assert lines(done) == ["status 1"] and "the server has ended before it answered" in done.stderr


def test_what_needs_a_server_ends_with_it(repository: Path, server: list[str]) -> None:
    script = f"""
        "$@" 0 & server=$!
        wait_for_health http://127.0.0.1:{server[-1]}/ "$server"
        (sleep 0.5; kill -9 "$server") &
        beside "$server" sleep 100 || echo "status $?"
    """
    done = shell(repository, script, *server)
    assert lines(done) == ["status 1"] and "the server has ended (status 137)" in done.stderr


def test_a_server_that_does_not_answer_in_time_is_given_up(repository: Path, server: list[str]) -> None:
    script = f"""
        sleep 60 & server=$!
        wait_for_health http://127.0.0.1:{server[-1]}/ "$server" || echo "status $?"
        kill "$server"
    """
    done = shell(repository, script, SERVER_START_S="1")
    assert lines(done) == ["status 1"]
    assert "has not answered within 1 s (SERVER_START_S, slurm/env.sh)" in done.stderr


def job_file(repository: Path, name: str, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a job file in a shell of its own; only for what starts no step."""
    return subprocess.run(
        ["bash", f"slurm/{name}", *words],
        cwd=repository,
        env={"PATH": "/usr/bin:/bin", "HOME": "/nowhere", "SLURM_JOB_ID": "7", **environment},
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_merging_no_runs_is_refused(repository: Path) -> None:
    done = job_file(repository, "merge.sh")
    assert done.returncode == 2 and done.stderr == "usage: [SHARDS=4] sbatch slurm/merge.sh RUN...\n"


def test_a_server_for_rollouts_without_a_second_node_is_refused(repository: Path) -> None:
    done = job_file(repository, "rl_server.sh", "m", SLURM_NNODES="1")
    assert done.returncode == 2 and "slurm/rl_server.sh needs two nodes or more" in done.stderr


@pytest.mark.parametrize("job", [1, 3_999, 4_000, 65_535, 67_108_863])
def test_the_ports_of_a_job_are_none_that_the_system_gives_to_connections(repository: Path, job: int) -> None:
    script = 'scontrol() { echo n1; }; meet; printf "%s\n" "$MASTER_PORT" "$SERVER_PORT" "$GROUP_PORT"'
    ports = list(map(int, lines(shell(repository, script, SLURM_JOB_ID=str(job), SLURM_JOB_NODELIST="n1"))))
    assert len(set(ports)) == 3 and all(20_000 <= port < 32_768 for port in ports)  # ip_local_port_range


JOB = (
    "JobId=7 JobState={state} Restarts=0 StartTime=2026-01-02T03:04:05 PreemptEligibleTime={eligible} PreemptTime={at}"
)


def end(repository: Path, status: int, shown: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """How a job whose step ends with `status` ends, where Slurm shows `shown` of it."""
    script = f"""
        srun() {{ return {status}; }}
        scontrol() {{ [ "$1" = requeue ] && echo "requeue $2" || echo "{shown}"; }}
        step true
    """
    return shell(repository, script, SLURM_JOB_ID="7", **environment)


@pytest.mark.parametrize("status", [138, 143, 200, 1])
def test_a_job_that_is_being_preempted_is_started_again_however_its_step_ends(repository: Path, status: int) -> None:
    preempted = JOB.format(state="RUNNING", eligible="2026-01-02T03:04:05", at="2026-01-02T05:00:00")
    done = end(repository, status, preempted)
    assert (done.returncode, done.stdout) == (status, "requeue 7\n")


@pytest.mark.parametrize(
    ("state", "at"),
    [("RUNNING", "None"), ("CANCELLED", "None"), ("CANCELLED", "2026-01-02T05:00:00"), ("TIMEOUT", "None")],
)
@pytest.mark.parametrize("status", [143, 2, 0])
def test_a_job_that_is_cancelled_or_fails_is_not(repository: Path, state: str, at: str, status: int) -> None:
    done = end(repository, status, JOB.format(state=state, eligible="2026-01-02T03:04:05", at=at))
    assert (done.returncode, done.stdout) == (status, "")


def test_a_job_that_is_complete_is_not_started_again_though_it_is_being_preempted(repository: Path) -> None:
    preempted = JOB.format(state="RUNNING", eligible="2026-01-02T03:04:05", at="2026-01-02T05:00:00")
    done = end(repository, 0, preempted)
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize(("restarts", "runs"), [("2", True), ("3", False)])
def test_a_job_that_slurm_itself_starts_again_and_again_is_ended(repository: Path, restarts: str, runs: bool) -> None:
    """It may have been preempted or lost its node so often: it runs MAX_REQUEUES + 1 times."""
    done = end(repository, 0, "", SLURM_RESTART_COUNT=restarts, MAX_REQUEUES="2")
    assert done.returncode == (0 if runs else 1)
    assert runs or "job 7 was requeued 3 times (MAX_REQUEUES=2" in done.stderr


@pytest.mark.parametrize("name", ["rl.sh", "rl_server.sh"])
def test_reinforcement_learning_hears_of_its_end_before_a_judge_may_hold_up_a_step(repository: Path, name: str) -> None:
    text = (repository / "slurm" / name).read_text(encoding="utf-8")
    (lead,) = re.findall(r"^#SBATCH --signal=USR1@(\d+)$", text, re.MULTILINE)
    (config,) = re.findall(r"(configs/train/rl_\S+\.yaml) \"", text)
    judge_s = yaml.safe_load((repository / config).read_text(encoding="utf-8")).get("judge_s")
    longest = RlConfig.model_fields["judge_s"].default if judge_s is None else judge_s
    assert int(lead) >= 2 * longest


def chain(repository: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run slurm/table2.sh; only for what submits nothing."""
    return subprocess.run(
        ["bash", "slurm/table2.sh", *words],
        cwd=repository,
        env={"PATH": "/usr/bin:/bin", "HOME": "/nowhere", **environment},
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize(
    ("words", "environment", "says"),
    [
        (["--help"], {}, "usage: bash slurm/table2.sh [--dry-run] [RUNS]"),
        (["--dryrun"], {}, "usage: "),
        (["runs/a", "runs/b"], {}, "RUNS is one folder, not runs/a runs/b"),
        ([], {"SHARDS": "0"}, "SHARDS is '0'; it must be a whole number above 0"),
        (["--dry-run"], {"SHARDS": "abc"}, "SHARDS is 'abc'"),
        (["--dry-run"], {"RL_CONFIG": "nope.yaml"}, "no configuration nope.yaml"),
    ],
)
def test_a_chain_that_cannot_run_is_refused_before_its_first_job(
    repository: Path, words: list[str], environment: dict[str, str], says: str
) -> None:
    done = chain(repository, *words, **environment)
    assert (done.returncode, done.stdout) == (2, "") and done.stderr.startswith(says)


@pytest.mark.parametrize("words", [["--dry-run", "runs/probe_1"], ["runs/probe_1", "--dry-run"]])
def test_a_dry_run_prints_the_chain(repository: Path, words: list[str]) -> None:
    runs, (group, *commands) = "runs/probe_1", lines(chain(repository, *words))
    assert group == "export WANDB_RUN_GROUP=probe_1"
    folders = [re.findall(rf"run_dir=({runs}/\w+)", command) for command in commands]
    assert folders[4] == [f"{runs}/probe_sft", f"{runs}/probe_rl"]
    assert folders[6] == [f"{runs}/cross_sft", f"{runs}/cross_rl"]
    assert all(command.startswith("sbatch --parsable --kill-on-invalid-dep=yes ") for command in commands)
    needs = [command.partition("--dependency=afterok:")[2].partition(" ")[0] for command in commands]
    assert needs == ["", "<data_gen>", "<sft>", "", "<rl>", "<probe_base>:<probe_trained>", "<merge>", "<cross>"]
    files = [word for command in commands for word in command.split() if word.startswith(("slurm/", "configs/"))]
    assert len(files) == 14 and all((repository / name).is_file() for name in files)
