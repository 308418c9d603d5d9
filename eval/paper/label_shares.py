"""Label shares of the user turns of a family: the unweighted mean over its models, with intervals over contexts.

The models of a family are probed on the same contexts, and one context may occur in two tasks (GPQA Diamond is part of
GPQA Main), so rows are not independent; the intervals resample contexts.
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
    """Judged user turns of M runs over C contexts, in 6 bytes each."""

    labels: tuple[str, ...]
    """Every label that occurs."""
    contexts: int
    runs: tuple[tuple[np.ndarray, np.ndarray], ...]
    """For each run, the indices of the context and of the label of its N judged user turns, (N,) each."""

    @classmethod
    def of(cls, runs: Iterable[Iterable[tuple[str, str]]]) -> LabelCounts:
        """From the (context, label) of every judged user turn of each run."""
        import numpy as np

        labels: dict[str, int] = {}
        contexts, given = [], []
        for run in runs:
            contexts.append(array("Q"))
            given.append(array("H"))
            for context, label in run:
                contexts[-1].append(bits_of(context))
                given[-1].append(labels.setdefault(label, len(labels)))
        distinct = np.unique(np.concatenate([np.empty(0, np.uint64), *contexts]))
        numbers = [np.searchsorted(distinct, np.asarray(one)).astype(np.int32) for one in contexts]
        return cls(tuple(labels), len(distinct), tuple(zip(numbers, map(np.asarray, given), strict=True)))

    @property
    def rows(self) -> int:
        """Judged user turns of all runs."""
        return sum(len(labels) for _, labels in self.runs)

    def share(self, label: str) -> tuple[float | None, Interval | None]:
        """The mean over runs of the label's share, in [0, 1], and its 95 % interval."""
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
        """The number of `chosen` user turns of each run in each context, (M, C)."""
        import numpy as np

        counts = np.empty((len(chosen), self.contexts), np.int32)
        for place, contexts in enumerate(chosen):
            counts[place] = np.bincount(contexts, minlength=self.contexts)
        return counts


def count_labels(runs: Sequence[Run], setting: Setting) -> LabelCounts:
    """Read the runs' rows and count the labels of all tasks in one setting."""
    return LabelCounts.of(_labelled_contexts(run.rows(), setting) for run in runs)


def context_of(dialogue: Dialogue) -> str:
    """A hash of the conversation before the answer: equal for rows that differ only in answer, task or user turn."""
    after_context = (user_turn_of(dialogue) is not None) + (answer_of(dialogue) is not None)
    before = dialogue.messages[: len(dialogue.messages) - after_context]
    return content_hash([[message.role, message.text] for message in before])


def _labelled_contexts(rows: Iterable[Dialogue], setting: Setting) -> Iterator[tuple[str, str]]:
    for row in rows:
        if row.state in JUDGED and row.judgement is not None and setting_of(row) == setting:
            yield context_of(row), row.judgement.label
