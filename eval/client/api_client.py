"""An asynchronous client of an OpenAI-compatible server: one request in, its parsed response or a `Fault` out.

Retries transient faults, keeps deadlines, adapts its concurrency and stays within a budget. Knows nothing about the
content of requests. For use in one event loop.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol, Self, TypeVar

from eval.client.adaptive_limit import AdaptiveLimit
from eval.client.budget import Budget
from eval.client.chat_reply import Fault, Usage, fault_of
from eval.config import ConfigError

if TYPE_CHECKING:
    from httpx2 import AsyncClient
    from tenacity import RetryCallState

HOPELESS = 20
"""If this many requests fail before the first one succeeds, the run is stopped."""


@dataclass(frozen=True)
class Patience:
    """Timeouts and retry delays, in seconds."""

    attempt_s: float = 60.0
    """For one attempt."""
    request_s: float = 300.0
    """For a request, from the start of its first attempt to the end of its last."""
    backoff_s: float = 0.5
    """Largest delay before the first retry; doubled for each further one."""
    longest_backoff_s: float = 30.0


@dataclass
class _Sending:
    """The state of one request over all its attempts."""

    body: Mapping[str, Any]
    hold: float
    """Largest cost of one attempt, in US dollars."""
    deadline: asyncio.Timeout
    attempts: int = 0
    dollars: float | None = 0.0
    last: Fault | None = None


class Paid(Protocol):
    """A parsed response and its usage."""

    @property
    def usage(self) -> Usage | None:
        """None if the server did not report it."""


R = TypeVar("R", bound=Paid)


class ApiClient(ABC, Generic[R]):
    """An asynchronous context manager; `complete` may run many times at once."""

    path: str
    """Path of the endpoint, below the base URL."""
    most_tokens: str
    """Name of the request field that limits the output tokens."""

    @abstractmethod
    def read(self, body: str) -> R | Fault:
        """Parse the body of a successful response; anything unexpected is a `Fault`."""

    def __init__(
        self, base_url: str, api_key: str, *, concurrency: int, patience: Patience, budget: Budget | None = None
    ) -> None:
        self.budget = budget or Budget()
        self.limit = AdaptiveLimit(concurrency)
        self.attempts: Counter[str] = Counter()
        """Number of attempts by outcome: "reply", or the kind of a fault."""
        self._base_url, self._api_key, self._patience = base_url, api_key, patience
        self._failed_requests = 0

    async def __aenter__(self) -> Self:
        from openai import AsyncOpenAI

        self._budget_moved = asyncio.Event()
        self._hopeless: ConfigError | None = None
        self._sdk = AsyncOpenAI(
            base_url=self._base_url, api_key=self._api_key, max_retries=0, timeout=None, http_client=_http_client()
        )
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._sdk.close()

    async def complete(self, body: Mapping[str, Any], *, quotable: bool = True) -> tuple[R | Fault, float | None]:
        """Send a request, with retries, until it succeeds, fails for good, or exceeds its deadline or the budget.

        Args:
            body: the JSON body of the request; it must set the field `most_tokens`.
            quotable: whether an error that stops the run may include the server's message, which may quote the request.

        Returns:
            The parsed response or the fault, and the cost of all attempts in US dollars, None if no price is known.

        Raises:
            ConfigError: every other request would fail in the same way, or many have failed and none has succeeded.
        """
        hold = self.budget.bound(body, body[self.most_tokens])
        try:
            async with asyncio.timeout(None) as deadline:
                sending = _Sending(body, hold, deadline)
                outcome = await self._retried(sending)
        except TimeoutError:
            before = f"; before that, {sending.last.kind}: {sending.last.detail}" if sending.last else ""
            outcome = Fault("deadline", f"no reply within {self._patience.request_s:g} s{before}")
        if isinstance(outcome, Fault) and outcome.kind != "budget":
            self._failed_requests += 1
            if self._failed_requests >= HOPELESS and not self.attempts["reply"]:
                raise ConfigError(
                    f"the first {HOPELESS} requests to {self._base_url} all failed, the last with {outcome.kind}"
                    f"{f': {outcome.detail}' if quotable else ''}"
                    "; check base_url and that its server is running; finished rows are kept"
                )
        return outcome, sending.dollars

    async def _retried(self, sending: _Sending) -> R | Fault:
        from tenacity import AsyncRetrying, retry_if_result, wait_random_exponential

        jitter = wait_random_exponential(self._patience.backoff_s, self._patience.longest_backoff_s)

        def wait(state: RetryCallState) -> float:
            return jitter(state) + (sending.last.wait_s or 0.0 if sending.last else 0.0)

        def stop(state: RetryCallState) -> bool:
            due = sending.deadline.when()
            return due is not None and asyncio.get_running_loop().time() + state.upcoming_sleep >= due

        retrying = AsyncRetrying(
            retry=retry_if_result(lambda outcome: isinstance(outcome, Fault) and outcome.transient),
            wait=wait,
            stop=stop,
            retry_error_callback=lambda state: sending.last,
        )
        outcome: R | Fault = await retrying(self._attempt, sending)
        return outcome

    async def _attempt(self, sending: _Sending) -> R | Fault:
        ticket = await self.limit.acquire(repeated=sending.attempts > 0)
        try:
            if self._hopeless:
                raise self._hopeless
            if not sending.attempts:
                sending.deadline.reschedule(asyncio.get_running_loop().time() + self._patience.request_s)
            sending.attempts += 1
            outcome = await self._paid(sending)
        finally:
            self.limit.release()
        if isinstance(outcome, Fault):
            sending.last = outcome
            if outcome.kind == "rate_limited":
                self.limit.throttled(ticket)
        else:
            self.limit.answered()
        return outcome

    async def _paid(self, sending: _Sending) -> R | Fault:
        """Make one attempt within the budget. An attempt with an unknown outcome is booked at its upper bound."""
        while not self.budget.hold(sending.hold):
            if not self.budget.under_way:
                return self.budget.exhausted()
            self._budget_moved.clear()
            await self._budget_moved.wait()
        usage, billable = None, True
        try:
            outcome = await self._sent(sending.body)
            usage = None if isinstance(outcome, Fault) else outcome.usage
            billable = not isinstance(outcome, Fault) or outcome.billable
            self.attempts[outcome.kind if isinstance(outcome, Fault) else "reply"] += 1
        except ConfigError as error:
            billable, self._hopeless = False, error
            raise
        finally:
            cost = self.budget.settle(sending.hold, usage, billable=billable)
            sending.dollars = None if cost is None or sending.dollars is None else sending.dollars + cost
            self._budget_moved.set()
        return outcome

    async def _sent(self, body: Mapping[str, Any]) -> R | Fault:
        from httpx2 import Response
        from openai import OpenAIError

        try:
            async with asyncio.timeout(self._patience.attempt_s):
                response = await self._sdk.post(self.path, cast_to=Response, body=body)
        except TimeoutError:
            return Fault("timeout", f"no reply within {self._patience.attempt_s:g} s", transient=True, billable=True)
        except OpenAIError as error:
            return fault_of(error)
        return self.read(response.text)


def _http_client() -> AsyncClient:
    """The transport of this package, or httpx2's own if the environment sets a proxy."""
    from urllib.request import getproxies

    from httpx2 import AsyncClient

    from eval.client.asyncio_transport import AsyncioTransport

    if getproxies().keys() & {"http", "https", "all"}:
        return AsyncClient(timeout=None)
    return AsyncClient(transport=AsyncioTransport(), timeout=None)
