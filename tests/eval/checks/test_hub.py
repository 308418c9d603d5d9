"""Where the Hub cannot be reached, its client is told so once."""

from __future__ import annotations

import os
import socket

import pytest

from eval.checks.hub import offline_without_hub

VARIABLES = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy")


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


@pytest.fixture
def no_hub(monkeypatch) -> None:
    """Nothing listens at the Hub's address."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.getsockname()[1]}")


@pytest.mark.parametrize("value", ["1", "true", "True", "on", "YES"])
@pytest.mark.parametrize("name", ["HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"])
def test_a_client_that_is_offline_stays_as_it_is(monkeypatch, no_hub, name, value) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "")  # so that it is put back
    monkeypatch.setenv(name, value)
    assert not offline_without_hub() and os.environ[name] == value


@pytest.mark.parametrize("value", ["0", "", "false", "off"])
def test_a_client_that_is_told_it_may_be_online_is_checked_too(monkeypatch, no_hub, value) -> None:
    """slurm/env.sh exports HF_HUB_OFFLINE=0 on nodes without internet."""
    monkeypatch.setenv("HF_HUB_OFFLINE", value)
    assert offline_without_hub() and os.environ["HF_HUB_OFFLINE"] == "1"


def test_a_proxy_is_left_to_the_client(monkeypatch, no_hub) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    assert not offline_without_hub() and "HF_HUB_OFFLINE" not in os.environ


@pytest.mark.parametrize("value", ["0", "1", "", "true", "TRUE", "on", "yes", "2", "no"])
def test_values_mean_what_they_mean_to_the_client(monkeypatch, no_hub, value) -> None:
    from huggingface_hub.constants import _is_true

    monkeypatch.setenv("HF_HUB_OFFLINE", value)
    assert offline_without_hub() is not _is_true(value)
