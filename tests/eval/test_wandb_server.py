"""Key and server of Weights & Biases are found where wandb finds them; `trackers/test_wandb_sync.py` starts runs."""

from __future__ import annotations

import os
import runpy
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

wandb = pytest.importorskip("wandb")
STAND_IN = runpy.run_path(str(Path(__file__).parent / "trackers" / "wandb_stand_in.py"))


@pytest.fixture(autouse=True)
def own_settings(monkeypatch, tmp_path) -> Iterator[None]:
    """Settings are read once in a process: they are dropped before and after."""
    for name in ("WANDB_API_KEY", "WANDB_BASE_URL", "https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    monkeypatch.setenv("WANDB_CONFIG_DIR", str(tmp_path))
    wandb.teardown()
    yield
    wandb.teardown()


def use(monkeypatch, url: str) -> None:
    monkeypatch.setenv("WANDB_BASE_URL", url)
    wandb.teardown()


def test_a_key_is_found_where_wandb_login_puts_it(monkeypatch, tmp_path) -> None:
    from wandb.sdk.lib.wbauth import write_netrc_auth

    from eval.wandb_server import address, has_key

    assert not has_key()
    write_netrc_auth(host=address(), api_key="k" * 40)
    assert has_key()
    use(monkeypatch, "https://wandb.example.org:8080")
    assert not has_key()
    write_netrc_auth(host="https://wandb.example.org:8080", api_key="k" * 40)
    assert has_key()


@pytest.mark.parametrize("host", ["api.wandb.ai", None], ids=["an older wandb", "another host"])
def test_a_key_for_the_former_address_of_the_server_counts(tmp_path, host) -> None:
    from eval.wandb_server import has_key

    (tmp_path / "netrc").write_text(f"machine {host or 'example.org'}\n  login user\n  password {'k' * 40}\n")
    os.chmod(tmp_path / "netrc", 0o600)
    assert has_key() is (host is not None)


def test_a_key_in_the_environment_counts_even_malformed(monkeypatch) -> None:
    from eval.wandb_server import has_key

    for key in ("k" * 40, "too short"):
        monkeypatch.setenv("WANDB_API_KEY", key)
        assert has_key()


def test_a_server_is_reachable_when_it_answers_whatever_it_says(monkeypatch) -> None:
    from eval.wandb_server import is_reachable

    with STAND_IN["serving"]() as server:  # which has no page at its root
        use(monkeypatch, server.url)
        assert is_reachable()
    assert not is_reachable()


def test_a_server_that_takes_the_connection_and_says_nothing_is_not_reachable(monkeypatch) -> None:
    from eval.wandb_server import is_reachable

    with socket.create_server(("127.0.0.1", 0)) as silent:
        use(monkeypatch, f"http://127.0.0.1:{silent.getsockname()[1]}")
        assert not is_reachable(seconds=0.2)


def test_a_server_is_asked_through_the_proxy(monkeypatch) -> None:
    from eval.wandb_server import is_reachable

    use(monkeypatch, "http://wandb.invalid")
    with STAND_IN["serving"]() as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        assert is_reachable()
