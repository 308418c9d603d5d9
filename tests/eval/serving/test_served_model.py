"""The models of a server are listed; any other response gives a one-line error. Choosing: `engines/test_server.py`."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from eval.config import ConfigError
from eval.serving.served_model import ServedModel, served_model


@contextmanager
def answering(status: int, body: bytes) -> Iterator[tuple[str, list[str | None]]]:
    keys: list[str | None] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            keys.append(self.headers["Authorization"])
            self.send_response(status)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *parts: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1/", keys
        finally:
            server.shutdown()
            thread.join()


def test_the_only_model_is_taken_with_its_context() -> None:
    with answering(200, b'{"data": [{"id": "m", "max_model_len": 4096}]}') as (url, keys):
        assert served_model(url, "secret", None) == ServedModel("m", 4096)
    assert keys == ["Bearer secret"]
    with answering(200, b'{"data": [{"id": "m"}, {"id": "k"}]}') as (url, _):
        assert served_model(url, "none", "k") == ServedModel("k", None)


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (500, b"{}"),
        (200, b"<html>"),
        (200, b"{}"),
        (200, b'{"data": [{"id": 5}]}'),
        (200, b'{"data": 5}'),
        (200, b"[]"),
    ],
)
def test_any_other_response_gives_a_one_line_error(status: int, body: bytes) -> None:
    with (
        answering(status, body) as (url, _),
        pytest.raises(ConfigError, match=r"no list of models at http.*/v1/models "),
    ):
        served_model(url, "none", None)
