"""Decodes a running batch: prefill, one token per row and step, finished rows leave, other batches are merged in.

Rows are padded on the left, so that all end at the same position.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from eval.dialogue import Failure
from eval.engine import Completion, Prompt, Sampling
from eval.generation import model_call
from eval.generation.kv_cache import can_join, join, keep
from eval.generation.prompt_reading import PromptReader
from eval.generation.token_sampling import choose
from eval.time_spent import spent

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import Cache, PreTrainedModel


@dataclass(eq=False)
class Row:
    """One prompt in progress: the tokens generated so far, its own random stream, and its result once finished."""

    prompt: Prompt
    generated: list[int] = field(default_factory=list)
    result: Completion | Failure | None = None

    def __post_init__(self) -> None:
        self.noise = random.Random(self.prompt.seed)

    @property
    def length(self) -> int:
        """Tokens of the prompt and of the completion so far."""
        return len(self.prompt.ids) + len(self.generated)

    def take(self, token: int | None, sampling: Sampling, stop_ids: frozenset[int]) -> None:
        """Append the next token and set the result if it ends the row; None, for non-finite logits, fails the row."""
        if token is None:
            self.result = Failure("generate", "non_finite_logits", f"after {len(self.generated)} tokens")
            return
        self.generated.append(token)
        if token in stop_ids:
            self.result = Completion(tuple(self.generated), "stop")
        elif len(self.generated) >= sampling.max_tokens:
            self.result = Completion(tuple(self.generated), "length")


@dataclass
class Batch:
    """Unfinished rows and the cache of all their tokens but the last."""

    rows: list[Row]
    cache: Cache
    length: int
    """Positions in the cache, padding included."""


@dataclass(frozen=True)
class Decoder:
    """A model with its sampling settings and stop ids."""

    model: PreTrainedModel
    sampling: Sampling
    stop_ids: frozenset[int]

    @cached_property
    def reader(self) -> PromptReader:
        """Reads prompts; keeps the cache of their shared prefix."""
        return PromptReader(self.model)

    def prefill(self, rows: Sequence[Row]) -> Batch:
        """Read the rows' tokens and pick the next token of each; the batch has the rows that are not finished."""
        with spent("prefill"):
            logits, cache = self.reader.read([(*row.prompt.ids, *row.generated) for row in rows])
            batch = Batch(list(rows), cache, max(row.length for row in rows))
            self._pick(batch, logits)
            return batch

    def step(self, batch: Batch) -> None:
        """Pick the next token of every row; finished rows leave the batch."""
        import torch

        with spent("decode"):
            ids = torch.tensor([row.generated[-1:] for row in batch.rows])
            batch.length += 1
            logits = model_call.forward(self.model, ids, [row.length for row in batch.rows], batch.length, batch.cache)
            self._pick(batch, logits)

    def _pick(self, batch: Batch, logits: Tensor) -> None:
        sampled = self.sampling.temperature > 0
        tokens = choose(logits, self.sampling, [row.noise.random() for row in batch.rows] if sampled else [])
        for row, token in zip(batch.rows, tokens, strict=True):
            row.take(token, self.sampling, self.stop_ids)
        unfinished = [index for index, row in enumerate(batch.rows) if row.result is None]
        if len(unfinished) < len(batch.rows):
            _keep_rows(batch, unfinished)


def merged(batches: Sequence[Batch]) -> Batch:
    """One batch with the rows of all `batches`; their caches must support joining (`can_join`)."""
    filled = [batch for batch in batches if batch.rows]
    if len(filled) < 2:
        return (filled or list(batches))[0]
    rows = [row for batch in filled for row in batch.rows]
    return Batch(rows, join([batch.cache for batch in filled]), max(batch.length for batch in filled))


def _keep_rows(batch: Batch, unfinished: Sequence[int]) -> None:
    """Keep the rows `unfinished`; the last ones move into the freed slots, so that few rows are copied."""
    count = len(unfinished)
    to_move = [index for index in unfinished if index >= count]
    kept = set(unfinished)
    order = [index if index in kept else to_move.pop() for index in range(count)]
    batch.rows = [batch.rows[index] for index in order]
    if not batch.rows:
        return
    # The cache does not contain the last token of each row.
    drop = batch.length - max(row.length - 1 for row in batch.rows) if can_join(batch.cache) else 0
    keep(batch.cache, order, drop)
    batch.length -= drop
