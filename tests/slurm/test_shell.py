"""What the job files share, in a shell of its own: no Slurm is needed for it."""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

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
    runs, commands = "runs/probe_1", lines(chain(repository, *words))
    folders = [re.findall(rf"run_dir=({runs}/\w+)", command) for command in commands]
    assert folders[4] == [f"{runs}/probe_sft", f"{runs}/probe_rl"]
    assert folders[6] == [f"{runs}/cross_sft", f"{runs}/cross_rl"]
    assert all(command.startswith("sbatch --parsable --kill-on-invalid-dep=yes ") for command in commands)
    needs = [command.partition("--dependency=afterok:")[2].partition(" ")[0] for command in commands]
    assert needs == ["", "<data_gen>", "<sft>", "", "<rl>", "<probe_base>:<probe_trained>", "<merge>", "<cross>"]
    files = [word for command in commands for word in command.split() if word.startswith(("slurm/", "configs/"))]
    assert len(files) == 14 and all((repository / name).is_file() for name in files)
