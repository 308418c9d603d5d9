"""A client of the Batch API: many requests in, a `Reply` or `Fault` for each out, within a day and at half the price.

Uploads and batches are recorded in a journal, so that a run that was stopped collects its batches when it is started
again instead of paying twice. Knows nothing about the content of requests.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from eval.client.batch_files import ENDPOINT, outcomes_of, parts_of, request_lines
from eval.client.budget import Budget
from eval.client.chat_reply import Fault, Reply, fault_of
from eval.client.response_cache import ResponseCache
from eval.config import ConfigError

if TYPE_CHECKING:
    from openai.types import Batch

ROUNDS = 3
"""How often a request is submitted at most, if its result is missing or a transient fault."""
ENDED = frozenset({"completed", "failed", "expired", "cancelled"})
TOO_MANY_TOKENS = "token_limit_exceeded"

Answer = tuple[str, Reply | Fault, float | None]


class BatchClient:
    """Submits one batch after another and waits for each. For one thread."""

    def __init__(self, base_url: str, api_key: str, budget: Budget, *, poll_s: float, retry_s: float = 5.0) -> None:
        self.budget = budget
        self._base_url, self._api_key, self._poll_s, self._retry_s = base_url, api_key, poll_s, retry_s

    def complete(self, bodies: Mapping[str, Mapping[str, Any]], journal: ResponseCache, name: str) -> Iterator[Answer]:
        """Yield id, outcome and cost in US dollars of each request, in any order.

        Batches that an earlier call left are collected first; all their results are yielded, also of other requests.

        Args:
            bodies: request bodies by id.
            journal: records uploads and batches in progress.
            name: the owner of the batches, part of their keys in the journal.

        Raises:
            ConfigError: the server rejects a batch, or every other request would fail in the same way.
        """
        from openai import NotFoundError, OpenAI

        waiting: dict[str, Fault | None] = dict.fromkeys(bodies)
        with OpenAI(base_url=self._base_url, api_key=self._api_key, max_retries=0, timeout=300) as self._sdk:
            self._adopt(journal, name)
            for key in journal.keys(f"batch/{name}/"):
                with suppress(NotFoundError):  # the server no longer has it
                    yield from self._answers(self._ended(_last(key)), waiting, {})
                journal.remove(key)
            for _ in range(ROUNDS):
                yield from self._round(bodies, waiting, journal, name)
        for custom_id, fault in waiting.items():
            yield custom_id, fault or Fault("missing", f"not in the results of {ROUNDS} batches"), None

    def _round(
        self, bodies: Mapping[str, Any], waiting: dict[str, Fault | None], journal: ResponseCache, name: str
    ) -> Iterator[Answer]:
        parts = deque(parts_of({custom_id: bodies[custom_id] for custom_id in waiting}))
        while parts:
            part = parts.popleft()
            held = {custom_id: self.budget.bound(body, body["max_completion_tokens"]) for custom_id, body in part}
            refused = [custom_id for custom_id, dollars in held.items() if not self.budget.hold(dollars)]
            for custom_id in refused:
                del held[custom_id], waiting[custom_id]
                yield custom_id, self.budget.exhausted(), None
            part = [(custom_id, body) for custom_id, body in part if custom_id in held]
            if not part:
                continue
            key = self._submitted(part, journal, name)
            batch = self._ended(_last(key))
            if batch.status == "failed":
                journal.remove(key)
                for dollars in held.values():
                    self.budget.settle(dollars, None, billable=False)
                parts.extendleft(_halves(part, batch))
                continue
            yield from self._answers(batch, waiting, held)
            journal.remove(key)

    def _submitted(self, part: list[tuple[str, Any]], journal: ResponseCache, name: str) -> str:
        """Create a batch; returns its key in the journal, which has the key of the upload until then."""
        from openai import NotFoundError

        name_and_content = ("requests.jsonl", request_lines(part))
        create = self._sdk.batches.create
        try:
            file = self._call(partial(self._sdk.files.create, file=name_and_content, purpose="batch"))
            upload = f"upload/{name}/{file.id}"
            journal.put(upload, {})
            batch = self._call(
                partial(create, input_file_id=file.id, endpoint=ENDPOINT, completion_window="24h"), twice=False
            )
        except NotFoundError as error:
            raise ConfigError(f"{self._base_url} has no Batch API; set judge.mode to online") from error
        key = f"batch/{name}/{batch.id}"
        journal.put(key, {})
        journal.remove(upload)
        return key

    def _adopt(self, journal: ResponseCache, name: str) -> None:
        """Record batches that were created but not recorded because the run was stopped in between."""
        from openai import NotFoundError

        uploads = {_last(key): key for key in journal.keys(f"upload/{name}/")}
        if uploads:
            with suppress(NotFoundError):  # the server does not list them
                for batch in self._call(lambda: list(self._sdk.batches.list(limit=100))):
                    if batch.input_file_id in uploads:
                        journal.put(f"batch/{name}/{batch.id}", {})
        for key in uploads.values():
            journal.remove(key)

    def _ended(self, batch_id: str) -> Batch:
        while True:
            batch: Batch = self._call(partial(self._sdk.batches.retrieve, batch_id))
            if batch.status in ENDED:
                return batch
            time.sleep(self._poll_s)

    def _answers(self, batch: Batch, waiting: dict[str, Fault | None], held: dict[str, float]) -> Iterator[Answer]:
        """Yield final answers, removed from `waiting`. Reads both files: with only errors, there is no output file."""
        answered: set[str] = set()
        for file_id in filter(None, (batch.output_file_id, batch.error_file_id)):
            for custom_id, outcome in outcomes_of(self._call(partial(self._sdk.files.content, file_id)).content):
                if custom_id in answered:
                    continue
                answered.add(custom_id)
                dollars = self._booked(outcome, held.pop(custom_id, None))
                if isinstance(outcome, Fault) and outcome.transient:
                    waiting |= {custom_id: outcome} if custom_id in waiting else {}
                else:
                    waiting.pop(custom_id, None)
                    yield custom_id, outcome, dollars
        for dollars in held.values():
            self.budget.settle(dollars, None, billable=False)

    def _booked(self, outcome: Reply | Fault, held: float | None) -> float | None:
        """Book and return the cost of a row; nothing was set aside for a batch that an earlier run left."""
        usage = outcome.usage if isinstance(outcome, Reply) else None
        billable = isinstance(outcome, Reply) or outcome.billable
        return self.budget.book(usage) if held is None else self.budget.settle(held, usage, billable=billable)

    def _call(self, function: Callable[[], Any], *, twice: bool = True) -> Any:
        """Call the API and retry after transient faults; with `twice` false, only after those without any effect."""
        from openai import NotFoundError, OpenAIError
        from tenacity import Retrying, retry_if_exception, stop_after_attempt, wait_random_exponential

        def passes(error: BaseException) -> bool:
            if not isinstance(error, OpenAIError) or isinstance(error, NotFoundError):
                return False
            fault = fault_of(error)
            return fault.transient and (twice or not fault.billable)

        retrying = Retrying(
            retry=retry_if_exception(passes),
            wait=wait_random_exponential(self._retry_s, 60),
            stop=stop_after_attempt(8),
            reraise=True,
        )
        try:
            return retrying(function)
        except NotFoundError:
            raise
        except OpenAIError as error:
            raise ConfigError(f"the Batch API at {self._base_url} fails: {error}; try again later") from error


def _halves(part: list[tuple[str, Any]], batch: Batch) -> list[list[tuple[str, Any]]]:
    """The requests of a batch that was rejected for its size, in two lists.

    Raises:
        ConfigError: it was rejected for another reason.
    """
    errors = (batch.errors.data if batch.errors else None) or []
    if len(part) > 1 and any(error.code == TOO_MANY_TOKENS for error in errors):
        return [part[len(part) // 2 :], part[: len(part) // 2]]
    reasons = "; ".join(str(error.message) for error in errors) or "no reason given"
    raise ConfigError(f"batch {batch.id} failed: {reasons}")


def _last(key: str) -> str:
    """The id of a batch or file, from its key in the journal."""
    return key.rsplit("/", 1)[1]
