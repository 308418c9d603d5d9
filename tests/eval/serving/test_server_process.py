"""A server process is waited for, monitored and stopped together with its children."""

from __future__ import annotations

import sys
import textwrap

import pytest

from eval.config import ConfigError
from eval.serving.server_process import ServerProcess, free_port

SERVES = """
import http.server, subprocess, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if self.path == "/health" else 404)
        self.end_headers()
    def log_message(self, *parts): pass
print("options", *sys.argv[1:], flush=True)
http.server.HTTPServer(("127.0.0.1", int(sys.argv[-1])), Handler).serve_forever()
"""


def start(code: str) -> ServerProcess:
    return ServerProcess([sys.executable, "-c", textwrap.dedent(code), "serve"])


def test_a_healthy_server_runs_until_it_is_stopped() -> None:
    process = start(SERVES)
    try:
        process.wait_until_healthy(60, every=0.05)
        process.check_alive()
        assert process.tail() == f"  options serve --host 127.0.0.1 --port {process.port}"
    finally:
        process.stop()
    with pytest.raises(ConfigError, match=r"the server has exited \(signal SIGTERM\)"):
        process.check_alive()
    process.stop()


@pytest.mark.parametrize(
    ("status", "body"), [(404, b""), (200, b"hello"), (200, b'{"name": "x"}'), (200, b"[]"), (200, b"")]
)
def test_a_program_other_than_vllm_is_rejected(status: int, body: bytes) -> None:
    other = f"self.send_response(200 if self.path == '/health' else {status})"
    code = SERVES.replace('self.send_response(200 if self.path == "/health" else 404)', other)
    process = start(code.replace("self.end_headers()", f"self.end_headers(); self.wfile.write({body!r})"))
    try:
        process.wait_until_healthy(60, every=0.05)
        with pytest.raises(ConfigError, match=r"does not report a vLLM version .*\n  options serve"):
            process.version()
    finally:
        process.stop()


def test_an_early_exit_is_reported_with_the_last_lines_of_output() -> None:
    process = start("print('line', flush=True); raise SystemExit('no memory')")
    with pytest.raises(ConfigError, match=r"(?s)has exited \(exit status 1\).*\n  line\n  no memory"):
        process.wait_until_healthy(60, every=0.05)


def test_a_server_that_does_not_become_healthy_is_stopped() -> None:
    process = start("import time; time.sleep(600)")
    with pytest.raises(ConfigError, match=r"not up after 0\.2 s; raise engine\.start_s"):
        process.wait_until_healthy(0.2, every=0.05)
    with pytest.raises(ConfigError, match=r"has exited"):
        process.check_alive()


def test_a_server_that_ignores_sigterm_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eval.serving.server_process.STOP_S", 0.2)
    ignores = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    process = start(ignores + SERVES)
    process.wait_until_healthy(60, every=0.05)
    process.stop()
    with pytest.raises(ConfigError, match=r"signal SIGKILL"):
        process.check_alive()


def test_ports_are_free() -> None:
    assert all(1024 < free_port() < 65536 for _ in range(3))
