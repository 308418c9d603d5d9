"""An adaptive limit on concurrent requests: halved when the server rejects one as too many, raised slowly by replies.

For use in one event loop. Knows no server and no request.
"""

from __future__ import annotations

import asyncio
import heapq
from itertools import count


class AdaptiveLimit:
    """Slots for concurrent requests, between 1 and `maximum`; retries get a slot before first attempts."""

    def __init__(self, maximum: int) -> None:
        self.maximum = maximum
        self._allowed = float(maximum)
        self._running = 0
        self._order = count()
        self._halved_at = 0
        self._waiting: list[tuple[bool, int, asyncio.Future[None]]] = []

    @property
    def allowed(self) -> int:
        """The current number of slots."""
        return int(self._allowed)

    async def acquire(self, *, repeated: bool) -> int:
        """Wait for a slot; returns a ticket with which `throttled` recognizes requests sent before the last halving."""
        if self._waiting or self._running >= self.allowed:
            turn = asyncio.get_running_loop().create_future()
            heapq.heappush(self._waiting, (not repeated, next(self._order), turn))
            try:
                await turn
            except asyncio.CancelledError:
                if turn.done() and not turn.cancelled():  # cancelled between being given the slot and waking up
                    self.release()
                raise
        else:
            self._running += 1
        return next(self._order)

    def release(self) -> None:
        """Release a slot."""
        self._running -= 1
        self._wake()

    def throttled(self, ticket: int) -> None:
        """Halve the limit because the server rejected a request as too many; once for all requests sent before that."""
        if ticket > self._halved_at:
            self._allowed = max(1.0, self._allowed / 2)
            self._halved_at = next(self._order)

    def answered(self) -> None:
        """Raise the limit after a reply, by one for each full round of replies."""
        self._allowed = min(float(self.maximum), self._allowed + 1 / self._allowed)
        self._wake()

    def _wake(self) -> None:
        while self._waiting and self._running < self.allowed:
            *_, turn = heapq.heappop(self._waiting)
            if not turn.done():
                self._running += 1
                turn.set_result(None)
