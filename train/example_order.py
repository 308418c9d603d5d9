"""The order in which an epoch sees its examples: those of a step are of like length, and steps come in random order.

It depends on seed, epoch and the rows of a step alone, so that a resumed run sees what an uninterrupted one would, and
several processes together what one does. They take their batches in turn; where the last ones are too few, blank rows
at the end of the data fill them up.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

POOL = 32
"""Steps whose examples are sorted by length together."""


class ExampleOrder:
    """Indices of examples in the order of an epoch; a sampler for torch's `DataLoader`."""

    def __init__(self, lengths: Sequence[int], step_rows: int, seed: int, blanks: int = 0) -> None:
        """`step_rows` examples make an optimizer step; `blanks` rows follow those that have `lengths`."""
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
        whole = len(order) // size * size
        steps: list[list[int]] = []
        for start in range(0, whole, size * POOL):
            pool = sorted(order[start : min(start + size * POOL, whole)], key=self._lengths.__getitem__)
            steps += [pool[place : place + size] for place in range(0, len(pool), size)]
        draw.shuffle(steps)
        for rows in steps:
            yield from rows
        yield from order[whole:]  # an incomplete step must be the last
        yield from range(len(self._lengths), len(self))
