"""Serves the bench to browsers on this machine: a loopback socket, and a new token for each start."""

from __future__ import annotations

import secrets
import socket
from urllib.parse import quote

from eval.config import ConfigError
from eval.review_bench.store import ReviewStore

HOST = "127.0.0.1"


def serve(store: ReviewStore, annotator: str | None, port: int) -> None:
    """Print the address and serve until Ctrl-C.

    Args:
        annotator: the reviewer whose items the address opens; None: the page asks for a name.
        port: 0 for any free port.

    Raises:
        ConfigError: the port is taken, or Starlette and uvicorn are not installed.
        KeyboardInterrupt: Ctrl-C.
    """
    try:
        import uvicorn

        from eval.review_bench.app import make_app

        token = secrets.token_urlsafe(24)
        app = make_app(store, token)
    except ModuleNotFoundError as error:
        raise ConfigError(f"the bench needs {error.name}; install it with `pip install '.[review]'`") from error
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((HOST, port))
            listener.listen()  # so that a browser that opens the address at once waits instead of being refused
        except (OSError, OverflowError) as error:
            raise ConfigError(
                f"port {port} can't be used ({error}); choose another --port, or 0 for a free one"
            ) from error
        place = f"by/{quote(annotator)}/" if annotator else ""
        print(f"http://{HOST}:{listener.getsockname()[1]}/{token}/{place}", flush=True)
        settings = uvicorn.Config(app, log_level="warning", access_log=False, lifespan="off", server_header=False)
        uvicorn.Server(settings).run(sockets=[listener])
