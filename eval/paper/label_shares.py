"""How the labels of a family's user turns are shared out: models count alike, contexts that repeat count once.

The models of a family are probed on the same contexts, and one context may stand in two tasks (GPQA Diamond is part of
GPQA Main), so rows are not independent; the intervals resample contexts whole.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from eval.dialogue import Dialogue, content_hash
from eval.finished_runs import Run
from eval.key_index import bits_of
from eval.stats.clustered import clustered_interval
from eval.stats.rates import Interval, Rate
from eval.summary import JUDGED, Setting, answer_of, setting_of, user_turn_of

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True, eq=False)
class LabelCounts:
    """Judged user turns of M runs over C contexts, 6 bytes each."""

    labels: tuple[str, ...]
    """Every label that was given."""
    contexts: int
    runs: tuple[tuple[np.ndarray, np.ndarray], ...]
    """Of each run, the context and the label of each of its N judged user turns, by their numbers: (N,) each."""

    @classmethod
    def of(cls, runs: Iterable[Iterable[tuple[str, str]]]) -> LabelCounts:
        """Of the context and the label of every judged user turn of each run."""
        import numpy as np

        labels: dict[str, int] = {}
        contexts, given = [], []
        for run in runs:
            contexts.append(array("Q"))
            given.append(array("H"))
            for context, label in run:
                contexts[-1].append(bits_of(context))
                given[-1].append(labels.setdefault(label, len(labels)))
        different = np.unique(np.concatenate([np.empty(0, np.uint64), *contexts]))
        numbers = [np.searchsorted(different, np.asarray(one)).astype(np.int32) for one in contexts]
        return cls(tuple(labels), len(different), tuple(zip(numbers, map(np.asarray, given), strict=True)))

    @property
    def rows(self) -> int:
        """Judged user turns of all runs."""
        return sum(len(labels) for _, labels in self.runs)

    def share(self, label: str) -> tuple[float | None, Interval | None]:
        """The mean over runs of the label's share, in [0, 1], with its 95 % interval."""
        number = self.labels.index(label) if label in self.labels else -1
        given = self._by_context([contexts[labels == number] for contexts, labels in self.runs])
        judged = self._by_context([contexts for contexts, _ in self.runs])
        rates = [Rate(int(hits.sum()), int(rows.sum())) for hits, rows in zip(given, judged, strict=True)]
        points = [rate.point for rate in rates if rate.point is not None]
        if len(points) < len(rates) or not rates:
            return None, None
        alone = len(rates) == 1 and self.contexts == rates[0].n
        interval = rates[0].interval() if alone else clustered_interval(given, judged)
        return sum(points) / len(points), interval

    def _by_context(self, chosen: Sequence[np.ndarray]) -> np.ndarray:
        """How many of the `chosen` user turns of each run stand in each context, (M, C)."""
        import numpy as np

        counts = np.empty((len(chosen), self.contexts), np.int32)
        for place, contexts in enumerate(chosen):
            counts[place] = np.bincount(contexts, minlength=self.contexts)
        return counts


def count_labels(runs: Sequence[Run], setting: Setting) -> LabelCounts:
    """Read the runs' rows and count the labels of all tasks in one setting."""
    return LabelCounts.of(_given(run.rows(), setting) for run in runs)


def context_of(dialogue: Dialogue) -> str:
    """A hash of the conversation before the answer: equal for rows that differ in answer, task or user turn alone."""
    spoken = (user_turn_of(dialogue) is not None) + (answer_of(dialogue) is not None)
    before = dialogue.messages[: len(dialogue.messages) - spoken]
    return content_hash([[message.role, message.text] for message in before])


def _given(rows: Iterable[Dialogue], setting: Setting) -> Iterator[tuple[str, str]]:
    for row in rows:
        if row.state in JUDGED and row.judgement is not None and setting_of(row) == setting:
            yield context_of(row), row.judgement.label
