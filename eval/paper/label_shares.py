"""How the labels of a family's user turns are shared out: models count alike, contexts that repeat count once.

The models of a family are probed on the same contexts, and one context may stand in two tasks (GPQA Diamond is part of
GPQA Main), so rows are not independent; the intervals resample contexts whole.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from eval.dialogue import Dialogue, content_hash
from eval.runs import Run
from eval.stats.clustered import clustered_interval
from eval.stats.rates import Interval, Rate
from eval.summary import JUDGED, Setting, answer_of, setting_of, user_turn_of


@dataclass(frozen=True)
class LabelCounts:
    """Judged user turns of M runs by context and label."""

    counts: tuple[dict[str, Counter[str]], ...]
    """One mapping a run: context to its labels."""

    @property
    def rows(self) -> int:
        """Judged user turns of all runs."""
        return sum(labels.total() for contexts in self.counts for labels in contexts.values())

    @property
    def labels(self) -> set[str]:
        """Every label that was given."""
        return {label for contexts in self.counts for labels in contexts.values() for label in labels}

    def share(self, label: str) -> tuple[float | None, Interval | None]:
        """The mean over runs of the label's share, in [0, 1], with its 95 % interval."""
        contexts = sorted({context for counted in self.counts for context in counted})
        given = [[counted.get(context, _NONE)[label] for context in contexts] for counted in self.counts]
        judged = [[counted.get(context, _NONE).total() for context in contexts] for counted in self.counts]
        rates = [Rate(sum(hits), sum(rows)) for hits, rows in zip(given, judged, strict=True)]
        points = [rate.point for rate in rates if rate.point is not None]
        if len(points) < len(rates) or not rates:
            return None, None
        alone = len(rates) == 1 and len(contexts) == rates[0].n
        interval = rates[0].interval() if alone else clustered_interval(given, judged)
        return sum(points) / len(points), interval


_NONE: Counter[str] = Counter()


def count_labels(runs: Sequence[Run], setting: Setting) -> LabelCounts:
    """Read the runs' rows and count the labels of all tasks in one setting."""
    return LabelCounts(tuple(_by_context(run.rows(), setting) for run in runs))


def context_of(dialogue: Dialogue) -> str:
    """A hash of the conversation before the answer: equal for rows that differ in answer, task or user turn alone."""
    spoken = (user_turn_of(dialogue) is not None) + (answer_of(dialogue) is not None)
    before = dialogue.messages[: len(dialogue.messages) - spoken]
    return content_hash([[message.role, message.text] for message in before])


def _by_context(rows: Iterable[Dialogue], setting: Setting) -> dict[str, Counter[str]]:
    found: dict[str, Counter[str]] = {}
    for row in rows:
        if row.state in JUDGED and row.judgement is not None and setting_of(row) == setting:
            found.setdefault(context_of(row), Counter())[row.judgement.label] += 1
    return found
