"""The stages of a probe: `Turns` adds one generated turn to each dialogue, `Changed` changes one, `decide` judges.

A stage processes what its store lacks, appends each result as it finishes, and streams: it holds only the dialogues
that its engine or judge is working on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Literal

from eval.dialogue import Dialogue
from eval.engine import Sampling
from eval.judge import Judge
from eval.progress import Progress
from eval.rows import RowStore
from eval.speaker import Speaker
from eval.time_spent import each


@dataclass(frozen=True)
class Turns:
    """`dialogues` with one more turn of `role`: `generate` makes the turns that `store` lacks, iterating reads them.

    A dialogue passes unchanged if it failed before, ends in a real user's turn, or already ends in a turn of this role
    from the data.
    """

    dialogues: Iterable[Dialogue]
    """Iterated more than once; another `Turns` will do."""
    role: Literal["user", "assistant"]
    speaker: Speaker
    sampling: Sampling
    store: RowStore
    after: Callable[[Dialogue], Dialogue] = lambda dialogue: dialogue
    """Applied once to each dialogue with its new turn, before it is stored."""

    def __iter__(self) -> Iterator[Dialogue]:
        for dialogue in self.dialogues:
            yield self.store.get(self._key(dialogue)) if self._speaks_in(dialogue) else dialogue

    def generate(self, progress: Progress) -> None:
        """Generate and store every missing turn."""
        lacking = Counter(self._lacks(dialogue) for dialogue in self.dialogues if self._speaks_in(dialogue))
        with progress(f"{self.role} turns", lacking.total(), lacking[False]) as advance:
            for key, dialogue in self.speaker.speak(filter(self._lacks, self.dialogues), self.role, self.sampling):
                self.store.append(key, dialogue if dialogue.failure else self.after(dialogue))
                advance()

    def _lacks(self, dialogue: Dialogue) -> bool:
        return self._speaks_in(dialogue) and self.store.missing(self._key(dialogue))

    def _speaks_in(self, dialogue: Dialogue) -> bool:
        return dialogue.failure is None and not dialogue.real_user and dialogue.messages[-1].role != self.role

    def _key(self, dialogue: Dialogue) -> str:
        return self.speaker.key(dialogue, self.role, self.sampling)


@dataclass(frozen=True)
class Changed:
    """`dialogues` with `change` applied to the answer of each; a stage without a store, recomputed on each iteration.

    A dialogue passes unchanged if it failed before, or ends in a real user's turn, a reply to the original answer.
    """

    dialogues: Iterable[Dialogue]
    change: Callable[[Dialogue], Dialogue]

    def __iter__(self) -> Iterator[Dialogue]:
        for dialogue in self.dialogues:
            yield dialogue if dialogue.failure or dialogue.real_user else self.change(dialogue)


def decide(dialogues: Iterable[Dialogue], judge: Judge) -> Iterator[Dialogue]:
    """Each dialogue as a finished row, in any order: judged, unless an earlier stage failed."""
    failed: list[Dialogue] = []

    def judgeable() -> Iterator[Dialogue]:
        for dialogue in each("bookkeeping", dialogues):
            if dialogue.failure is None:
                yield dialogue
            else:
                failed.append(dialogue)

    # Closed at once when the caller stops early: a judge may have requests under way.
    with closing(judge.judge(judgeable())) as decided:
        for dialogue, result in each("judge", decided):
            yield dialogue.with_result(result)
    yield from failed
