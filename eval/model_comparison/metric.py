"""One metric of a model: a measure of one task in one setting, and its outcome on every row.

It knows outcomes by row id, no run and no table. Metrics of Table 2: arXiv 2604.02315; the project's own small data
sets use the same layout.
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
"""Measure -> its field in `Outcome`."""


@dataclass(frozen=True)
class Metric:
    """A column of Table 2."""

    task: str
    measure: Measure
    setting: Setting | None = "self-generated"
    """None for a task whose rows have no setting."""

    @property
    def key(self) -> str:
        """Its short name for a command line or a file, such as "gsm8k.accuracy"."""
        return f"{self.task}.{self.measure}"

    @property
    def heading(self) -> str:
        """Its display name, the heading of its column."""
        if self.measure == "accuracy":
            return accuracy_heading(self.task)
        name = follow_up_heading(self.task, self.setting)
        return name if self.measure == "genuine" else name.replace(" %", ", specific %")

    def outcomes(self, rows: Outcomes) -> MetricOutcomes:
        """The outcome of each row of the task in the setting; None where it is unknown.

        A row without a setting, because it failed early, is included if its task has only one setting.
        """
        of_task = [outcome for outcome in rows.counts() if outcome.task == self.task]
        only_setting = {outcome.setting for outcome in of_task} <= {self.setting, None}
        included = {self.setting, None} if only_setting else {self.setting}
        values = {one: getattr(one, ATTRIBUTES[self.measure]) for one in of_task if one.setting in included}
        return MetricOutcomes(rows, values)


class MetricOutcomes(Mapping[str, bool | None]):
    """The value of a metric by row id: a view on the outcomes of a run, which copies nothing."""

    def __init__(self, rows: Outcomes, values: Mapping[Outcome, bool | None]) -> None:
        """The rows with an outcome in `values`."""
        self._rows, self._values = rows, values

    def __getitem__(self, id: str) -> bool | None:
        return self._values[self._rows[id]]

    def __iter__(self) -> Iterator[str]:
        return (id for id, outcome in self._rows.items() if outcome in self._values) if self._values else iter(())

    def __len__(self) -> int:
        return sum(count for outcome, count in self._rows.counts().items() if outcome in self._values)


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
"""Tasks whose bare name means their accuracy; for any other task it means the genuine rate."""


def metrics_of(tasks: Iterable[str]) -> tuple[Metric, ...]:
    """The columns of Table 2 for these tasks: all of the paper's if it has any of them, then the project's own.

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
        ConfigError: the part after the dot is not a measure.
    """
    task, dot, measure = name.partition(".")
    if not dot:
        return task, "accuracy" if task in GRADED else "genuine"
    for known in get_args(Measure):
        if measure == known:
            return task, known
    raise ConfigError(f"{name!r}: after the dot, write one of {', '.join(get_args(Measure))}")


def rate_of(outcomes: Mapping[str, bool | None]) -> Rate:
    """The rate of the known outcomes."""
    known = [outcome for outcome in outcomes.values() if outcome is not None]
    return Rate(sum(known), len(known))
