"""Serving: on the loopback interface alone, under a new token each time."""

from __future__ import annotations

import socket
import threading
from pathlib import Path
from typing import Any

import pytest

from eval.config import ConfigError
from eval.review_bench import serving
from eval.review_bench.store import ReviewStore


def test_a_port_that_is_taken_is_said(store: ReviewStore) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(ConfigError, match=f"port {port} can't be used"):
            serving.serve(store, None, port)
    with pytest.raises(ConfigError, match="choose another --port"):
        serving.serve(store, None, 70_000)


def test_it_listens_on_loopback_alone_under_a_token_of_its_own(
    store: ReviewStore, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    uvicorn = pytest.importorskip("uvicorn", reason="no uvicorn; run `make setup`")
    bound: list[Any] = []
    monkeypatch.setattr(uvicorn.Server, "run", lambda self, sockets: bound.append(sockets[0].getsockname()))
    serving.serve(store, "Ada Lovelace", 0)
    serving.serve(store, None, 0)
    first, second = capsys.readouterr().out.split()
    assert [host for host, _ in bound] == ["127.0.0.1", "127.0.0.1"]
    assert first.startswith(f"http://127.0.0.1:{bound[0][1]}/") and first.endswith("/by/Ada%20Lovelace/")
    tokens = [address.split("/")[3] for address in (first, second)]
    assert tokens[0] != tokens[1] and min(map(len, tokens)) >= 32


def test_a_missing_package_is_named(store: ReviewStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "uvicorn", None)
    with pytest.raises(ConfigError, match=r"uvicorn.*\.\[review\]"):
        serving.serve(store, None, 0)


def test_the_store_may_be_used_by_the_thread_that_serves(store: ReviewStore, tmp_path: Path) -> None:
    thread = threading.Thread(target=store.record, args=("Ada", 1), kwargs={"genuine": True})
    thread.start()
    thread.join()
    assert store.annotators() == ["Ada"]
