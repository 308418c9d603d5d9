"""Access control of the bench: requests need the token, forms must come from its own pages, pages are restricted."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Cache-Control": "no-store",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
"""Headers of every response. `same-origin` sends no referrer to other origins, so that they never learn the token."""


class Guard:
    """ASGI middleware: 404 without the token, 403 for a form from another origin, `HEADERS` on every response."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._token = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward a request or refuse it."""
        from starlette.datastructures import Headers, MutableHeaders
        from starlette.responses import PlainTextResponse

        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        headers, app = Headers(scope=scope), self._app
        if not secrets.compare_digest(scope["path"].removeprefix("/").split("/")[0].encode(), self._token):
            app = PlainTextResponse("not found; open the complete address that the command printed", 404)
        elif scope["method"] not in ("GET", "HEAD") and headers.get("origin") != f"http://{headers.get('host')}":
            app = PlainTextResponse("decisions must be sent from a page of the bench", 403)
        await app(scope, receive, with_headers)
