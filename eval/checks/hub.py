"""Whether the Hub can be reached; if not, its client uses its cache alone instead of retrying for minutes."""

from __future__ import annotations

import os
import socket
from urllib.parse import urlsplit

HUB = "https://huggingface.co"
SECONDS = 3.0
TRUE = {"1", "ON", "YES", "TRUE"}
"""Values that huggingface_hub reads as true in environment variables; "0" is false (`huggingface_hub/constants.py`)."""


def offline_without_hub() -> bool:
    """Switch the Hub's client to offline mode if the Hub cannot be reached; returns whether that was done.

    Must be called before huggingface_hub is imported.
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
    """Whether the environment already sets offline mode, read as the client reads it."""
    value = os.environ.get("HF_HUB_OFFLINE") or os.environ.get("TRANSFORMERS_OFFLINE") or ""
    return value.upper() in TRUE
