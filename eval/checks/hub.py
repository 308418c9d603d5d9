"""Whether the Hub can be reached; where it can't, its client looks in its cache alone, and doesn't try for minutes."""

from __future__ import annotations

import os
import socket
from urllib.parse import urlsplit

HUB = "https://huggingface.co"
SECONDS = 3.0
TRUE = {"1", "ON", "YES", "TRUE"}
"""What huggingface_hub takes for true in its environment variables; "0" is false (`huggingface_hub/constants.py`)."""


def offline_without_hub() -> bool:
    """Switch the Hub's client to its cache where the Hub can't be reached; whether that was done.

    Call it before anything of the Hub is imported.
    """
    proxies = ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy")
    if _is_offline() or any(os.environ.get(name) for name in proxies):
        return False
    address = urlsplit(os.environ.get("HF_ENDPOINT", HUB))
    try:
        port = address.port or (443 if address.scheme == "https" else 80)
        socket.create_connection((address.hostname or "", port), SECONDS).close()
    except OSError:
        os.environ["HF_HUB_OFFLINE"] = "1"
        return True
    return False


def _is_offline() -> bool:
    """Whether the environment has switched the client to its cache already, read as the client reads it."""
    value = os.environ.get("HF_HUB_OFFLINE") or os.environ.get("TRANSFORMERS_OFFLINE") or ""
    return value.upper() in TRUE
