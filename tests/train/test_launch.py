"""The launcher of one node: it exits with the status of its processes, and USR1 only reaches them."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from train.preemption import REQUEUE

pytestmark = pytest.mark.integration


@pytest.fixture
def launch(repository: Path, tmp_path: Path):
    """(what each of two processes does) -> the launcher of them, running."""

    def started(body: str) -> subprocess.Popen[str]:
        script = tmp_path / "script.py"
        opening = f"import os, signal, sys, time\nREQUEUE = {REQUEUE}\nrank = int(os.environ['RANK'])\n"
        script.write_text(opening + textwrap.dedent(body))
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = str(free.getsockname()[1])
        here = ["--nnodes", "1", "--node-rank", "0", "--master-addr", "127.0.0.1", "--master-port", port]
        return subprocess.Popen(
            [sys.executable, "-m", "train.launch", *here, "--nproc-per-node", "2", str(script)],
            cwd=repository,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    return started


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ("sys.stdout.write(f'{rank} ')", 0),
        ("os.kill(os.getpid(), 9)", 137),
        ("sys.exit(REQUEUE if rank else 0)", REQUEUE),
    ],
)
def test_its_status_is_that_of_its_processes(launch, body: str, status: int) -> None:
    process = launch(body)
    said, errors = process.communicate(timeout=120)
    assert process.returncode == status, errors
    assert sorted(said.split()) == (["0", "1"] if status == 0 else [])


def test_usr1_does_not_end_it_and_reaches_processes_that_were_just_starting(launch) -> None:
    """Slurm sends it to all processes of a step at once."""
    process = launch(
        """
        if rank == 0:
            os.kill(os.getppid(), signal.SIGUSR1)
        os.kill(os.getpid(), signal.SIGUSR1)  # blocked, as it is in the launcher: it waits until there is a handler
        time.sleep(0.5)
        assert signal.sigwait([signal.SIGUSR1])
        sys.exit(REQUEUE)
        """
    )
    _, errors = process.communicate(timeout=120)
    assert process.returncode == REQUEUE, errors


def test_term_ends_its_processes(launch) -> None:
    process = launch("print('up\\n' * (rank == 0), end='', flush=True)\ntime.sleep(100)")
    assert process.stdout.readline() == "up\n"
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=120)
    assert process.returncode == 128 + signal.SIGTERM


def test_term_leaves_its_processes_the_time_to_save(launch, monkeypatch: pytest.MonkeyPatch) -> None:
    """A preempted job has a grace time. torchrun would kill its processes after half a minute, here after a second."""
    monkeypatch.setenv("TORCH_ELASTIC_SHUTDOWN_TIMEOUT", "1")
    process = launch(
        """
        def save(number, frame):
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            time.sleep(3)
            os.write(1, b'saved\\n')
            os._exit(143)

        signal.signal(signal.SIGTERM, save)
        os.write(1, b'up\\n')
        time.sleep(100)
        """
    )
    assert [process.stdout.readline() for _ in range(2)] == ["up\n"] * 2
    process.send_signal(signal.SIGTERM)
    said, errors = process.communicate(timeout=120)
    assert said.split() == ["saved"] * 2, errors
    assert process.returncode == 143
