"""The name of a server, recorded with its results."""

from __future__ import annotations

from urllib.parse import urlsplit

from eval.config import ConfigError

DEFAULT_PORTS = {"http": 80, "https": 443}


def server_name(base_url: str, setting: str = "base_url") -> str:
    """Host, port and path of a URL, "localhost:8000/v1"; without the scheme's own port, credentials and query.

    Args:
        setting: where the URL comes from, for messages.

    Raises:
        ConfigError: it is not an http(s) URL.
    """
    try:
        url = urlsplit(base_url)
        host, port = url.hostname, url.port
    except ValueError:
        host = None
    if not host or url.scheme not in DEFAULT_PORTS:
        raise ConfigError(f"{setting} {base_url!r} is not a server's URL; write http://HOST:PORT/v1")
    host = f"[{host}]" if ":" in host else host
    return host + (f":{port}" if port not in (None, DEFAULT_PORTS[url.scheme]) else "") + url.path.rstrip("/")
