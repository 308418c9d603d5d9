"""Whether the Hub can be reached; where it can't, its client looks in its cache alone, and doesn't try for minutes."""

from __future__ import annotations

import os
import socket
from urllib.parse import urlsplit

HUB = "https://huggingface.co"
SECONDS = 3.0


def offline_without_hub() -> bool:
    """Switch the Hub's client to its cache where the Hub can't be reached; whether that was done.

    Call it before anything of the Hub is imported.
    """
    proxies = ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy")
    if os.environ.get("HF_HUB_OFFLINE") or any(os.environ.get(name) for name in proxies):
        return False
    address = urlsplit(os.environ.get("HF_ENDPOINT", HUB))
    try:
        port = address.port or (443 if address.scheme == "https" else 80)
        socket.create_connection((address.hostname or "", port), SECONDS).close()
    except OSError:
        os.environ["HF_HUB_OFFLINE"] = "1"
        return True
    return False
