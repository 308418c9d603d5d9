"""One metric of a model: a measure of one task in one setting, and its outcome on every row.

It knows outcomes by row id, no run and no table. Metrics of Table 2: arXiv 2604.02315; those of our own small sets are
in the same layout.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from eval.config import ConfigError
from eval.paper.headings import accuracy_heading, follow_up_heading
from eval.paper.outcomes import Outcome, Outcomes
from eval.stats.rates import Rate
from eval.summary import Setting

Measure = Literal["accuracy", "genuine", "specific"]

ATTRIBUTES: Mapping[Measure, str] = {"accuracy": "correct", "genuine": "genuine", "specific": "specific"}
"""The field of an `Outcome` that holds a measure."""


@dataclass(frozen=True)
class Metric:
    """What a column of Table 2 is about."""

    task: str
    measure: Measure
    setting: Setting | None = "self-generated"
    """None: of a task whose rows show none."""

    @property
    def key(self) -> str:
        """Its short name for a command line or a file, such as "gsm8k.accuracy"."""
        return f"{self.task}.{self.measure}"

    @property
    def heading(self) -> str:
        """Its name as a reader knows it."""
        if self.measure == "accuracy":
            return accuracy_heading(self.task)
        name = follow_up_heading(self.task, self.setting)
        return name if self.measure == "genuine" else name.replace(" %", ", specific %")

    def outcomes(self, rows: Outcomes) -> MetricOutcomes:
        """The outcome of each row of the task in the setting; None where it is unknown.

        A row that shows no setting, for it failed early, counts where the other rows of its task have one alone.
        """
        of_task = [outcome for outcome in rows.counts() if outcome.task == self.task]
        alone = {outcome.setting for outcome in of_task} <= {self.setting, None}
        counted = {self.setting, None} if alone else {self.setting}
        shown = {one: getattr(one, ATTRIBUTES[self.measure]) for one in of_task if one.setting in counted}
        return MetricOutcomes(rows, shown)


class MetricOutcomes(Mapping[str, bool | None]):
    """What a metric counts of a run, by row id: read off the outcomes of the run, and never held."""

    def __init__(self, rows: Outcomes, shown: Mapping[Outcome, bool | None]) -> None:
        """Of the rows that show one of the outcomes in `shown`."""
        self._rows, self._shown = rows, shown

    def __getitem__(self, id: str) -> bool | None:
        return self._shown[self._rows[id]]

    def __iter__(self) -> Iterator[str]:
        return (id for id, outcome in self._rows.items() if outcome in self._shown) if self._shown else iter(())

    def __len__(self) -> int:
        return sum(count for outcome, count in self._rows.counts().items() if outcome in self._shown)


PAPER = (
    Metric("gsm8k", "accuracy"),
    Metric("ifbench", "genuine"),
    Metric("gpqa_diamond", "genuine"),
    Metric("healthbench", "genuine", "held-out"),
    Metric("coval", "genuine", "held-out"),
)
OURS = (
    Metric("arithmetic", "accuracy"),
    Metric("pocket_math", "accuracy"),
    Metric("pocket_math", "genuine"),
    Metric("pocket_instructions", "genuine"),
    Metric("pocket_conversations", "genuine", "held-out"),
)
GRADED = frozenset(metric.task for metric in (*PAPER, *OURS) if metric.measure == "accuracy")
"""Tasks whose name alone means their accuracy; of any other it means its genuine follow-ups."""


def metrics_of(tasks: Iterable[str]) -> tuple[Metric, ...]:
    """The columns of Table 2 for runs of these tasks: all of the paper's if any is there, then those of our own sets.

    Raises:
        ConfigError: none of the tasks is one of Table 2.
    """
    known = set(tasks)
    of_the_paper = PAPER if known & {metric.task for metric in PAPER} else ()
    metrics = (*of_the_paper, *(metric for metric in OURS if metric.task in known))
    if not metrics:
        wanted = ", ".join(dict.fromkeys(metric.task for metric in (*PAPER, *OURS)))
        raise ConfigError(f"the runs hold {', '.join(sorted(known)) or 'no rows'}, but no task of Table 2: {wanted}")
    return metrics


def parse_metric(name: str) -> tuple[str, Measure]:
    """ "gsm8k" or "ifbench.specific" as task and measure.

    Raises:
        ConfigError: what stands behind the dot is no measure.
    """
    task, dot, measure = name.partition(".")
    if not dot:
        return task, "accuracy" if task in GRADED else "genuine"
    for known in get_args(Measure):
        if measure == known:
            return task, known
    raise ConfigError(f"{name!r}: after the dot stands one of {', '.join(get_args(Measure))}")


def rate_of(outcomes: Mapping[str, bool | None]) -> Rate:
    """The rate of the known outcomes."""
    known = [outcome for outcome in outcomes.values() if outcome is not None]
    return Rate(sum(known), len(known))
