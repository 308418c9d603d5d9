"""The order in which a GRPO run meets its prompts: shuffles of all of them, one after the other, to the last step.

It depends on the seed alone. There is one epoch, as long as the run: a resumed run only has to skip what is done.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator


class PromptOrder:
    """Indices of prompts for a data loader: each prompt `group` times in a row, each batch of them `repeats` times.

    A sampler in the layout of TRL's `RepeatSampler`, which draws the order of an epoch from a stream that a resumed
    run begins anew.
    """

    def __init__(self, prompts: int, *, batch: int, group: int, repeats: int, batches: int, seed: int) -> None:
        """Lay out a run.

        Args:
            prompts: how many there are.
            batch: prompts whose episodes are sampled together.
            group: episodes of a prompt.
            repeats: micro-steps that use the episodes of a batch.
            batches: of the whole run.
        """
        self._prompts, self._batch, self._group, self._repeats = prompts, batch, group, repeats
        self._batches, self._seed = batches, seed

    def __len__(self) -> int:
        return self._batches * self._repeats * self._batch * self._group

    def __iter__(self) -> Iterator[int]:
        stream = self._stream()
        for _ in range(self._batches):
            chosen = list(itertools.islice(stream, self._batch))
            for _ in range(self._repeats):
                for prompt in chosen:
                    yield from itertools.repeat(prompt, self._group)

    def _stream(self) -> Iterator[int]:
        for shuffle in itertools.count():
            yield from random.Random(f"{self._seed} {shuffle}").sample(range(self._prompts), self._prompts)
