"""Runs `vllm serve` as a child process: starts it, waits until it is healthy, and stops it with this process.

Its output goes to a temporary file; errors include the last lines.
"""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from eval.config import ConfigError

TAIL_LINES = 15
STOP_S = 20.0
"""Seconds between SIGTERM and SIGKILL."""
PR_SET_PDEATHSIG = 1


class ServerProcess:
    """A server on a free loopback port; call `wait_until_healthy` first and `stop` last."""

    def __init__(self, command: Sequence[str]) -> None:
        """Start `command` with `--host` and `--port` appended.

        Raises:
            ConfigError: the program cannot be started.
        """
        self.port = free_port()
        self.base_url = f"http://127.0.0.1:{self.port}/v1"
        self._log = tempfile.NamedTemporaryFile("w+b", prefix="userturn-server-", suffix=".log")  # noqa: SIM115
        try:
            self._process = subprocess.Popen(
                [*command, "--host", "127.0.0.1", "--port", str(self.port)],
                stdout=self._log,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
                preexec_fn=_terminate_with_parent() if sys.platform == "linux" else None,
            )
        except OSError as error:
            self._log.close()
            raise ConfigError(
                f"can't start {command[0]} ({error.strerror}); set engine.program to an existing command"
            ) from error

    def wait_until_healthy(self, seconds: float, every: float = 0.5) -> None:
        """Return once `/health` answers 200.

        Raises:
            ConfigError: the process exited, or was not healthy in time and is stopped.
        """
        import httpx2

        url, due = f"http://127.0.0.1:{self.port}/health", time.monotonic() + seconds
        while time.monotonic() < due:
            self.check_alive()
            try:
                if httpx2.get(url, timeout=5.0).status_code == 200:
                    return
            except httpx2.HTTPError:
                pass
            time.sleep(every)
        self.stop()
        raise ConfigError(f"the server was not up after {seconds:g} s; raise engine.start_s\n{self.tail()}")

    def version(self) -> str:
        """The vLLM version that a healthy server reports.

        Raises:
            ConfigError: it reports none, so it is not vLLM.
        """
        import httpx2

        try:
            answer = httpx2.get(f"http://127.0.0.1:{self.port}/version", timeout=30.0).raise_for_status().json()
            return str(answer["version"])
        except (httpx2.HTTPError, ValueError, KeyError, TypeError) as error:
            raise ConfigError(
                f"the server does not report a vLLM version ({type(error).__name__}); set engine.program to vLLM's own "
                f"command. Its last lines:\n{self.tail()}"
            ) from error

    def check_alive(self) -> None:
        """Raise if the process has exited.

        Raises:
            ConfigError: it has; the message has its exit status and the last lines of its output.
        """
        status = self._process.poll()
        if status is not None:
            how = f"exit status {status}" if status >= 0 else f"signal {signal.Signals(-status).name}"
            raise ConfigError(f"the server has exited ({how}); finished rows are kept. Its last lines:\n{self.tail()}")

    def tail(self) -> str:
        """The last `TAIL_LINES` lines of the server's output, indented."""
        text = Path(self._log.name).read_text(encoding="utf-8", errors="replace") if not self._log.closed else ""
        return "\n".join(f"  {line}" for line in text.splitlines()[-TAIL_LINES:])

    def stop(self) -> None:
        """Stop the process group; a second call does nothing."""
        for sent, seconds in ((signal.SIGTERM, STOP_S), (signal.SIGKILL, STOP_S)):
            try:
                os.killpg(self._process.pid, sent)
                self._process.wait(timeout=seconds)
            except (ProcessLookupError, subprocess.TimeoutExpired):
                continue


def free_port() -> int:
    """A loopback port that is currently free."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _terminate_with_parent():  # type: ignore[no-untyped-def]
    """A `preexec_fn` that makes the kernel send SIGTERM to the child when its parent dies, for whatever reason."""
    libc = ctypes.CDLL(None)  # loaded here: nothing may be imported between fork and exec
    return lambda: libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
