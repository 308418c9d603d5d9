"""The order in which a GRPO run visits its prompts: consecutive shuffles of all prompts, up to the last step.

It depends only on the seed. The run is a single epoch, so a resumed run only has to skip the steps already done.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator


class PromptOrder:
    """Sampler of prompt indices: each prompt `group` times in a row, each batch of prompts `repeats` times.

    Has the layout of TRL's `RepeatSampler`, whose random stream would restart in a resumed run.
    """

    def __init__(self, prompts: int, *, batch: int, group: int, repeats: int, batches: int, seed: int) -> None:
        """Define the order of a whole run.

        Args:
            prompts: number of prompts.
            batch: prompts whose episodes are sampled together.
            group: episodes per prompt.
            repeats: micro-steps that use the episodes of a batch.
            batches: number of batches in the whole run.
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
