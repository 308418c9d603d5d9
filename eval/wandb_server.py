"""The server of Weights & Biases: its address, the key for it, whether it answers, and runs that fall back to offline.

Address and key are found by wandb itself, which must be installed; the functions import it.
"""

from __future__ import annotations

import logging
import ssl
from http.client import HTTPException
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError, URLError
from urllib.request import build_opener

if TYPE_CHECKING:
    from wandb import Run

logger = logging.getLogger(__name__)

SECONDS = 5.0
"""Time limit for the answer."""


def address() -> str:
    """From $WANDB_BASE_URL, else from `wandb login --host`, else the default of wandb. Read once in a process."""
    from wandb.sdk import wandb_setup

    return str(wandb_setup.singleton().settings.base_url)


def has_key() -> bool:
    """Whether there is a key for the server, in the environment or in the file that `wandb login` writes."""
    from wandb.errors import AuthenticationError
    from wandb.sdk.lib.wbauth import authenticate_session

    try:
        found = authenticate_session(host=address(), source="has_key", prompt=False, update_session=False)
    except AuthenticationError:  # a malformed key; `wandb.init` says what is wrong with it
        return True
    return found is not None


def is_reachable(seconds: float = SECONDS) -> bool:
    """Whether the server answers, through a proxy where one is set. An error status is an answer.

    So is a certificate that Python rejects: wandb's own service may trust its authority.
    """
    try:
        build_opener().open(address(), timeout=seconds).close()  # `urlopen` would keep the proxies of its first call
    except (HTTPError, HTTPException):
        return True
    except URLError as error:
        return isinstance(error.reason, ssl.SSLError)
    except OSError:
        return False
    return True


def start_run(mode: Any, **settings: Any) -> Run:
    """`wandb.init`; without a `mode`, the run is offline if there is no key or the server does not accept it.

    Raises:
        Exception: of `wandb.init`, in the given mode or offline.
    """
    import wandb

    if mode is None and not has_key():
        mode = "offline"
    elif mode is None and not is_reachable():
        logger.warning("%s does not answer: metrics are kept offline", address())
        mode = "offline"
    try:
        return wandb.init(mode=mode, **settings)
    except Exception as error:  # of wandb, its service, the network or the server
        if mode is not None:
            raise
        logger.warning("wandb: %s: %s; metrics are kept offline", type(error).__name__, error)
        wandb.teardown()  # else its service would still have the id in use
        return wandb.init(mode="offline", **settings)
