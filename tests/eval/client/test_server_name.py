from __future__ import annotations

import pytest

from eval.client.server_name import server_name
from eval.config import ConfigError


@pytest.mark.parametrize(
    ("base_url", "name"),
    [
        ("https://api.openai.com/v1", "api.openai.com/v1"),
        ("HTTPS://API.OpenAI.com:443/v1/", "api.openai.com/v1"),
        ("https://api.openai.com:8443/v1", "api.openai.com:8443/v1"),
        ("http://Node-7:8000/v1", "node-7:8000/v1"),
        ("http://node-7:80", "node-7"),
        ("https://node-7:80", "node-7:80"),
        ("http://[::1]:8000/v1", "[::1]:8000/v1"),
        ("https://me:secret@host/a/b/?key=secret#x", "host/a/b"),
    ],
)
def test_a_server_is_named_by_host_port_and_path_and_no_secret(base_url: str, name: str) -> None:
    assert server_name(base_url) == name


@pytest.mark.parametrize(
    "base_url", ["", "localhost:8000/v1", "http:///v1", "http://h:port/v1", "file:///v1", "http://["]
)
def test_what_is_no_address_of_a_server_is_an_error(base_url: str) -> None:
    with pytest.raises(ConfigError, match="write http://HOST:PORT/v1"):
        server_name(base_url)
