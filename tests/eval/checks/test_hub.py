"""Where the Hub cannot be reached, its client is told so once."""

from __future__ import annotations

import os
import socket

import pytest

from eval.checks.hub import offline_without_hub

VARIABLES = ("HF_HUB_OFFLINE", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy")


@pytest.fixture(autouse=True)
def no_settings(monkeypatch):
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


def test_a_hub_that_answers_is_used(monkeypatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.getsockname()[1]}")
        assert not offline_without_hub() and "HF_HUB_OFFLINE" not in os.environ


def test_a_hub_that_does_not_is_left_alone(monkeypatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{port}")
    monkeypatch.setenv("HF_HUB_OFFLINE", "")  # so that it is put back
    assert offline_without_hub() and os.environ["HF_HUB_OFFLINE"] == "1"


@pytest.mark.parametrize("name", ["HF_HUB_OFFLINE", "HTTPS_PROXY"])
def test_what_is_set_is_left_as_it_is(monkeypatch, name) -> None:
    monkeypatch.setenv(name, "1")
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    assert not offline_without_hub()
