"""Continuous batching: the longest rows first, within a budget of cached tokens, refilled as rows finish.

User turns average about 25 tokens under a limit of 96, so a batch that waits for its last row wastes most of its
steps. Running out of memory halves the budget and restarts the affected rows; every row is returned exactly once.
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
    """Runs rows through a decoder; takes at most a window of rows ahead."""

    decoder: Decoder
    rows: Iterator[Row]
    batch_tokens: int
    """Budget of cached positions: the number of rows times the longest row with its full completion."""
    batch_rows: int
    read_tokens: int
    """Maximum padded prompt tokens of one prefill, unless a single prompt is longer."""
    waiting: list[Row] = field(default_factory=list)
    """Rows to start, sorted by length, the longest last."""
    running: Batch | None = None
    flight: list[Row] = field(default_factory=list)
    """Rows in the running batch or being added to it."""
    exhausted: bool = False

    def run(self) -> Iterator[Row]:
        """Every row with its result, as it finishes; rows that already have a result pass through."""
        while not self.exhausted or self.waiting or self.flight:
            yield from self._refill()
            if self._step_runs_out_of_memory():
                self._reduce_budget()
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

    def _step_runs_out_of_memory(self) -> bool:
        """Advance by one step. Memory is only freed once this returns, so the caller handles the failure."""
        import torch

        try:
            # Not around `run`: a generator would leave its caller in inference mode at each yield.
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
        """Prefill waiting rows into the batch if there is room; returns whether any were added."""
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
        """Whether at least a quarter of the rows that fit are free."""
        if not self.waiting or not self.running:
            return bool(self.waiting)
        if not can_join(self.running.cache):
            return False
        longest = max(self._positions(row) for row in (*self.running.rows, self.waiting[-1]))
        return len(self.running.rows) <= min(self.batch_rows, self.batch_tokens // longest) * 3 // 4

    def _next_group(self) -> list[Row]:
        """Remove and return the longest waiting rows that fit the budgets of the cache and of one prefill."""
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

    def _reduce_budget(self) -> None:
        """Put the rows in flight back and halve the budget; a row that does not fit alone fails."""
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
    """Whether an accelerator or the host ran out of memory; torch reports the latter as a plain RuntimeError."""
    import torch

    if isinstance(error, (torch.OutOfMemoryError, MemoryError)):
        return True
    text = str(error).lower()
    return any(sign in text for sign in ("can't allocate memory", "out of memory", "alloc_failed"))


def release_memory() -> None:
    """Return cached accelerator memory to the driver."""
    import torch

    if torch.cuda.is_available():
        torch.cuda.empty_cache()
