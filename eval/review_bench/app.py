"""The bench as a web application, with a token and the reviewer's name in each URL.

Every decision is a separate form, saved before the response redirects; the script only presses the buttons.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, quote

from eval.review_bench import pages
from eval.review_bench.decision import Decision
from eval.review_bench.pages import FOLDER, Progress
from eval.review_bench.store import ReviewStore

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

NAME = re.compile(r"\w(?:[\w .'-]{0,38}[\w.])?")
"""A valid name of a reviewer."""
LONGEST_S = 86_400.0
"""Upper bound of the time spent on an item: a day."""


def reviewer(text: str) -> str | None:
    """The normalized name (whitespace collapsed, NFC), as it is stored; None if it is not valid."""
    name = unicodedata.normalize("NFC", " ".join(text.split()))
    return name if NAME.fullmatch(name) else None


def make_app(store: ReviewStore, token: str) -> Starlette:
    """The application; every URL without the token gives 404."""
    from starlette.applications import Starlette
    from starlette.middleware import Middleware
    from starlette.middleware.trustedhost import TrustedHostMiddleware
    from starlette.routing import Mount, Route
    from starlette.staticfiles import StaticFiles

    from eval.review_bench.guard import Guard

    bench = Bench(store, f"/{token}/")
    routes = [
        Route("/", bench.start, methods=["GET"]),
        Route("/", bench.enter, methods=["POST"]),
        Route("/by/{name}/", bench.resume, methods=["GET"]),
        Route("/by/{name}/done", bench.done, methods=["GET"]),
        Route("/by/{name}/undo", bench.undo, methods=["POST"]),
        Route("/by/{name}/{position:int}", bench.show, methods=["GET"]),
        Route("/by/{name}/{position:int}", bench.decide, methods=["POST"]),
        Mount("/static", StaticFiles(directory=FOLDER / "static")),
    ]
    guards = [
        Middleware(Guard, token=token),
        Middleware(TrustedHostMiddleware, allowed_hosts=["127.0.0.1", "localhost"]),
    ]
    return Starlette(routes=[Mount(f"/{token}", routes=routes)], middleware=guards)


class Bench:
    """The endpoints. They run in one thread and share one connection to the store."""

    def __init__(self, store: ReviewStore, root: str) -> None:
        self.store = store
        self.root = root

    async def start(self, request: Request) -> Response:
        """Ask for a name."""
        return self._html(pages.start_page(self._annotators()))

    async def enter(self, request: Request) -> Response:
        """Redirect to the first undecided item of the given name."""
        name = reviewer((await _fields(request)).get("name", ""))
        if name is None:
            problem = "A name has 1 to 40 letters, digits, spaces, dots, hyphens or apostrophes."
            return self._html(pages.start_page(self._annotators(), problem), status=422)
        return self._to(f"by/{quote(name)}/")

    async def resume(self, request: Request) -> Response:
        """Redirect to the first undecided item."""
        name = _name(request)
        return self._to(self._undecided(name, after=0))

    async def show(self, request: Request) -> Response:
        """Show one item."""
        name, position = _name(request), self._position(request)
        decisions = self.store.decisions(name)
        return self._html(
            pages.item_page(
                name,
                position,
                self.store.item(position).dialogue.messages,
                decisions.get(position, Decision()),
                Progress.of(decisions, self.store.count),
                can_undo=bool(decisions),
            )
        )

    async def decide(self, request: Request) -> Response:
        """Save a label or a binary; a decision that completes an item redirects to the next undecided one."""
        from starlette.exceptions import HTTPException

        name, position, fields = _name(request), self._position(request), await _fields(request)
        before = self.store.decisions(name).get(position, Decision())
        genuine = {"yes": True, "no": False, None: None}.get(fields.get("genuine"))
        try:
            self.store.record(
                name, position, label=fields.get("label"), genuine=genuine, seconds=_seconds(fields.get("seconds"))
            )
        except ValueError as error:
            raise HTTPException(422, "not a valid decision") from error
        after = self.store.decisions(name)[position]
        if after.complete and not before.complete and not after.contradictory:
            return self._to(self._undecided(name, after=position))
        return self._to(f"by/{quote(name)}/{position}")

    async def undo(self, request: Request) -> Response:
        """Undo the last decision and redirect to its item."""
        name = _name(request)
        position = self.store.undo(name)
        return self._to(f"by/{quote(name)}/{position or ''}")

    async def done(self, request: Request) -> Response:
        """Show the totals of a reviewer."""
        name = _name(request)
        decisions = self.store.decisions(name)
        counts = Counter(decision.label for decision in decisions.values() if decision.complete and decision.label)
        progress = Progress.of(decisions, self.store.count)
        return self._html(pages.done_page(name, progress, counts, self.store.path))

    def _annotators(self) -> dict[str, Progress]:
        return {name: Progress.of(self.store.decisions(name), self.store.count) for name in self.store.annotators()}

    def _undecided(self, name: str, after: int) -> str:
        """The URL of the next incomplete item, wrapping around at the end."""
        decisions = self.store.decisions(name)
        order = [*range(after + 1, self.store.count + 1), *range(1, after + 1)]
        position = next((place for place in order if not decisions.get(place, Decision()).complete), "done")
        return f"by/{quote(name)}/{position}"

    def _position(self, request: Request) -> int:
        from starlette.exceptions import HTTPException

        position = int(request.path_params["position"])
        if not 1 <= position <= self.store.count:
            raise HTTPException(404)
        return position

    def _to(self, address: str) -> Response:
        from starlette.responses import RedirectResponse

        return RedirectResponse(self.root + address, status_code=303)

    def _html(self, page: str, status: int = 200) -> Response:
        from starlette.responses import HTMLResponse

        return HTMLResponse(page, status_code=status)


def _name(request: Request) -> str:
    from starlette.exceptions import HTTPException

    given = request.path_params["name"]
    if reviewer(given) != given:
        raise HTTPException(404)
    return str(given)


async def _fields(request: Request) -> dict[str, str]:
    """The fields of a form; the last value of a repeated field counts."""
    body = (await request.body()).decode("utf-8", "replace")
    return {name: values[-1] for name, values in parse_qs(body, keep_blank_values=True).items()}


def _seconds(text: str | None) -> float | None:
    try:
        seconds = float(text or "")
    except ValueError:
        return None
    return min(seconds, LONGEST_S) if math.isfinite(seconds) and seconds >= 0 else None
