"""`vllm serve` as a process of ours: started, waited for until it answers, and stopped with us.

Knows no prompt. Its output goes to a file; whoever asks why it died is shown the end of that.
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
"""Seconds between asking the process to end and killing it."""
PR_SET_PDEATHSIG = 1


class ServerProcess:
    """A server on a free port of the loopback; `wait_until_healthy` first, `stop` last."""

    def __init__(self, command: Sequence[str]) -> None:
        """Start `command` with `--host` and `--port` added.

        Raises:
            ConfigError: there is no such program.
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
                preexec_fn=_end_with_parent() if sys.platform == "linux" else None,
            )
        except OSError as error:
            self._log.close()
            raise ConfigError(
                f"can't start {command[0]} ({error.strerror}); set engine.program to a command that is there"
            ) from error

    def wait_until_healthy(self, seconds: float, every: float = 0.5) -> None:
        """Return once `/health` answers 200.

        Raises:
            ConfigError: the process ended, or did not get as far in time; it is stopped then.
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
        raise ConfigError(f"the server was not up after {seconds:g} s; give it more by engine.start_s\n{self.tail()}")

    def version(self) -> str:
        """The version that a healthy server says it is.

        Raises:
            ConfigError: it says none, as another program than vLLM.
        """
        import httpx2

        try:
            answer = httpx2.get(f"http://127.0.0.1:{self.port}/version", timeout=30.0).raise_for_status().json()
            return str(answer["version"])
        except (httpx2.HTTPError, ValueError, KeyError, TypeError) as error:
            raise ConfigError(
                f"the server does not say which vLLM it is ({type(error).__name__}); set engine.program to vLLM's own "
                f"command. Its last lines:\n{self.tail()}"
            ) from error

    def check_alive(self) -> None:
        """Nothing, while it runs.

        Raises:
            ConfigError: it has ended; the message has its exit status and the end of its output.
        """
        status = self._process.poll()
        if status is not None:
            how = f"exit status {status}" if status >= 0 else f"signal {signal.Signals(-status).name}"
            raise ConfigError(f"the server has ended ({how}); finished rows are kept. Its last lines:\n{self.tail()}")

    def tail(self) -> str:
        """The last lines of its output."""
        text = Path(self._log.name).read_text(encoding="utf-8", errors="replace") if not self._log.closed else ""
        return "\n".join(f"  {line}" for line in text.splitlines()[-TAIL_LINES:])

    def stop(self) -> None:
        """End the process and all that it started; a second call does nothing."""
        for sent, seconds in ((signal.SIGTERM, STOP_S), (signal.SIGKILL, STOP_S)):
            try:
                os.killpg(self._process.pid, sent)
                self._process.wait(timeout=seconds)
            except (ProcessLookupError, subprocess.TimeoutExpired):
                continue


def free_port() -> int:
    """A port of the loopback that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _end_with_parent():  # type: ignore[no-untyped-def]
    """What a child runs before the program: it is told to end when its parent dies, however that dies."""
    libc = ctypes.CDLL(None)  # loaded here: between fork and exec nothing may be imported
    return lambda: libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
