"""Which rows run together: the longest first, under a budget of cached tokens, refilled as rows finish.

User turns average about 25 tokens under a limit of 96, so a batch that waits for its last row wastes most of its
steps. Running out of memory halves the budget and starts the affected rows again; no row is lost or given twice.
"""

from __future__ import annotations

import bisect
import logging
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

from eval.dialogue import Failure
from eval.generation.decoder import Batch, Decoder, Row, merged
from eval.generation.kv_cache import can_join

logger = logging.getLogger(__name__)

WINDOW = 256
"""Prompts taken from the caller ahead of time, to sort them by length."""


@dataclass
class Scheduler:
    """Runs rows through a decoder; holds no more than a window of them."""

    decoder: Decoder
    rows: Iterator[Row]
    batch_tokens: int
    """Budget of cached positions: rows, times the longest of them with its completion."""
    batch_rows: int
    read_tokens: int
    """Padded prompt tokens that one prefill reads, unless a single prompt is longer."""
    waiting: list[Row] = field(default_factory=list)
    """Sorted by length, the longest last."""
    running: Batch | None = None
    flight: list[Row] = field(default_factory=list)
    """Rows in the running batch or on their way into it."""
    exhausted: bool = False

    def run(self) -> Iterator[Row]:
        """Every row with its result, as it finishes; rows that come with a result pass through."""
        while not self.exhausted or self.waiting or self.flight:
            yield from self._refill()
            if self._runs_out_of_memory():
                self._retreat()
            done = [row for row in self.flight if row.result is not None]
            self.flight = [row for row in self.flight if row.result is None]
            yield from done

    def _refill(self) -> list[Row]:
        if self.exhausted or len(self.waiting) > WINDOW // 2:
            return []
        wanted = WINDOW - len(self.waiting)
        fresh = list(islice(self.rows, wanted))
        self.exhausted = len(fresh) < wanted
        self.waiting += [row for row in fresh if row.result is None]
        self.waiting.sort(key=lambda row: row.length)
        return [row for row in fresh if row.result is not None]

    def _runs_out_of_memory(self) -> bool:
        """Advance by one step. Returning, rather than handling the error inside, frees what the step had allocated."""
        import torch

        try:
            # Not around `run`: a generator would leave its caller in inference mode at every yield.
            with torch.inference_mode():
                if not self._admit() and self.running:
                    self.decoder.step(self.running)
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
            return True
        if self.running and not self.running.rows:
            self.running = None
        return False

    def _admit(self) -> bool:
        """Let waiting rows enter if there is room for them; False if none entered."""
        if not self._has_room():
            return False
        batches = [self.running] if self.running else []
        before = len(batches)
        while group := self._next_group():
            self.flight += group
            batches.append(self.decoder.prefill(group))
            if not can_join(batches[-1].cache):
                break
        if len(batches) > before:
            self.running = merged(batches)
        return len(batches) > before

    def _has_room(self) -> bool:
        """Whether enough rows have left for others to enter: a quarter of those that fit."""
        if not self.waiting or not self.running:
            return bool(self.waiting)
        if not can_join(self.running.cache):
            return False
        longest = max(self._positions(row) for row in (*self.running.rows, self.waiting[-1]))
        return len(self.running.rows) <= min(self.batch_rows, self.batch_tokens // longest) * 3 // 4

    def _next_group(self) -> list[Row]:
        """Take the longest waiting rows that the budgets of the cache and of one prefill allow."""
        longest = max((self._positions(row) for row in self.flight), default=0)
        group: list[Row] = []
        while self.waiting and len(self.flight) + len(group) < self.batch_rows:
            row = self.waiting[-1]
            longest = max(longest, self._positions(row))
            cached = longest * (len(self.flight) + len(group) + 1)
            read = group[0].length * (len(group) + 1) if group else 0
            alone = not self.flight and not group
            if not alone and (cached > self.batch_tokens or read > self.read_tokens):
                break
            group.append(self.waiting.pop())
        return group

    def _positions(self, row: Row) -> int:
        return len(row.prompt.ids) + self.decoder.sampling.max_tokens

    def _retreat(self) -> None:
        """Put the rows in flight back, under half the budget; a row that does not fit alone fails."""
        self.running = None
        release_memory()
        rows = [row for row in self.flight if row.result is None]
        if len(rows) == 1:
            rows[0].result = Failure("generate", "out_of_memory", f"{rows[0].length} tokens do not fit in memory")
            return
        self.batch_rows = max(1, len(rows) // 2)
        self.batch_tokens = max(1, self.batch_rows * max(self._positions(row) for row in rows))
        logger.warning("out of memory with %d rows; continuing with %d at once", len(rows), self.batch_rows)
        self.flight = [row for row in self.flight if row.result is not None]
        for row in rows:
            bisect.insort(self.waiting, row, key=lambda row: row.length)


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an accelerator or the host ran out of memory; torch says the latter in a plain RuntimeError."""
    import torch

    if isinstance(error, (torch.OutOfMemoryError, MemoryError)):
        return True
    text = str(error).lower()
    return any(sign in text for sign in ("can't allocate memory", "out of memory", "alloc_failed"))


def release_memory() -> None:
    """Give cached accelerator memory back to the allocator's owner."""
    import torch

    if torch.cuda.is_available():
        torch.cuda.empty_cache()
