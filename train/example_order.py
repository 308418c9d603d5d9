"""The order in which an epoch visits its examples: steps of examples of similar length, in random order.

It depends only on the seed, the epoch and the number of rows per step, so a resumed run visits the same examples as an
uninterrupted one, and several processes together the same as one. Processes take their batches in turn; blank rows at
the end of the data fill up the last batches.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

POOL = 32
"""Number of steps whose examples are sorted by length together."""


class ExampleOrder:
    """A sampler for torch's `DataLoader`: the indices of examples in the order of an epoch."""

    def __init__(self, lengths: Sequence[int], step_rows: int, seed: int, blanks: int = 0) -> None:
        """`step_rows` examples make an optimizer step; `blanks` rows follow the ones in `lengths`."""
        self._lengths, self._step_rows, self._seed, self._blanks = lengths, step_rows, seed, blanks
        self._epoch = 0

    def __len__(self) -> int:
        return len(self._lengths) + self._blanks

    def set_epoch(self, epoch: int) -> None:
        """Called by the data loader at the start of each epoch."""
        self._epoch = epoch

    def __iter__(self) -> Iterator[int]:
        draw = random.Random(f"{self._seed} {self._epoch}")
        order = draw.sample(range(len(self._lengths)), len(self._lengths))
        size = self._step_rows
        full = len(order) // size * size
        steps: list[list[int]] = []
        for start in range(0, full, size * POOL):
            pool = sorted(order[start : min(start + size * POOL, full)], key=self._lengths.__getitem__)
            steps += [pool[first : first + size] for first in range(0, len(pool), size)]
        draw.shuffle(steps)
        for rows in steps:
            yield from rows
        yield from order[full:]  # an incomplete step must be the last
        yield from range(len(self._lengths), len(self))
