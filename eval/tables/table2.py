"""Table 2 for one model: accuracy and follow-up rates, one column per task, with all counts.

Pure: summaries in, tables out. Self-generated and held-out answers have separate columns and are never pooled. Several
models side by side, with the paper's numbers, are in `table2_models.py`. Layout: arXiv 2604.02315, Table 2.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from eval.labels import LABELS
from eval.paper.headings import accuracy_heading, follow_up_heading, heading, place
from eval.perturb import describe
from eval.stats.rates import Rate
from eval.summary import TaskSummary
from eval.table import UNKNOWN, Cell, Table

TRUNCATED = "Truncated user turns (cut off at their token limit) are judged as is and count in n."
UNJUDGED = "unjudged = gen_error + judge_error + skipped; these rows count in N, not in judged n."
NOT_POOLED = (
    "follow-up: genuine user turns on the model's own answers; cross: on another model's answers; held-out: on answers "
    "from the data. Never pooled."
)

MEASURES: tuple[tuple[str, Callable[[TaskSummary], Cell]], ...] = (
    ("setting", lambda s: Cell(s.setting or UNKNOWN)),
    ("N", lambda s: Cell.number(s.total)),
    ("judged n", lambda s: Cell.number(s.judged)),
    ("truncated", lambda s: Cell.number(s.states["truncated"])),
    ("unjudged", lambda s: Cell.number(s.unjudged)),
    ("gen_error", lambda s: Cell.number(s.states["gen_error"])),
    ("judge_error", lambda s: Cell.number(s.states["judge_error"])),
    ("skipped", lambda s: Cell.number(s.states["skipped"])),
    ("genuine %", lambda s: Cell.rate(s.genuine)),
    ("specific %", lambda s: Cell.rate(s.specific)),
    ("different turns", lambda s: Cell.share(Rate(s.different_turns, s.judged))),
    ("commonest opening", lambda s: Cell.share(Rate(s.commonest_opening, s.judged))),
    ("graded n", lambda s: Cell.number(s.accuracy.n)),
    ("accuracy %", lambda s: Cell.rate(s.accuracy)),
    ("answers cut off", lambda s: Cell.share(s.cut_off)),
    ("answers ending in ? %", lambda s: Cell.rate(s.questions)),
    ("tokens per user turn", lambda s: Cell.number(s.mean_user_tokens, digits=1)),
)
"""The rows of the detail table: the name of a measure, and its cell for one task."""


@dataclass(frozen=True)
class Protocol:
    """How the rows were made, for the footer of the table."""

    model: str
    """Model name and digest of its weights."""
    judge: str
    history: str
    temperature: float
    perturbation: str
    answers_from: str | None

    @classmethod
    def of(cls, protocol: Mapping[str, Any]) -> Protocol:
        """From the protocol in a run's manifest."""
        return cls(
            protocol["model"],
            protocol["judge"],
            protocol["history"],
            protocol["sampling"]["temperature"],
            describe(protocol["perturbation"]),
            protocol["answers_from"],
        )

    def line(self) -> str:
        """The footer of the table."""
        answers = f"; answers from {self.answers_from}" if self.answers_from else ""
        return (
            f"model {self.model}{answers}; judge {self.judge}; history {self.history}; "
            f"perturbation {self.perturbation}; temperature {self.temperature:g}; 95 % Wilson score intervals"
        )


def build(name: str, summaries: Iterable[TaskSummary], protocol: Protocol) -> list[Table]:
    """The row `name` ("Base") of Table 2, the detail per task, and the labels per task.

    The follow-up rate of the row is the genuine rate, as in the paper; the detail also has the specific rate.
    """
    ordered = sorted(summaries, key=lambda s: (s.setting == "held-out", *place(s.task)))
    return [_row(name, ordered, protocol), _detail(ordered), _labels(ordered)]


def _row(name: str, summaries: Sequence[TaskSummary], protocol: Protocol) -> Table:
    columns = [("model", Cell(name))]
    for summary in summaries:
        if summary.accuracy.n:
            columns.append((accuracy_heading(summary.task), Cell.rate(summary.accuracy, with_n=True)))
        columns.append((follow_up_heading(summary.task, summary.setting), Cell.rate(summary.genuine, with_n=True)))
    headings, cells = zip(*columns, strict=True)
    notes = (protocol.line(), NOT_POOLED, TRUNCATED, *other_judges(summaries, protocol.judge))
    return Table("Table 2", headings, (cells,), notes)


def _detail(summaries: Sequence[TaskSummary]) -> Table:
    rows = [(Cell(measure), *(cell(summary) for summary in summaries)) for measure, cell in MEASURES]
    return Table("Detail", ("measure", *_columns(summaries)), tuple(rows), (UNJUDGED,))


def _labels(summaries: Sequence[TaskSummary]) -> Table:
    given = {label for summary in summaries for label in summary.labels}
    labels = [*LABELS, *sorted(given - set(LABELS))]
    rows = [
        (Cell(label), *(Cell.share(Rate(summary.labels.get(label, 0), summary.judged)) for summary in summaries))
        for label in labels
    ]
    return Table("Labels of the judged user turns", ("label", *_columns(summaries)), tuple(rows))


def _columns(summaries: Sequence[TaskSummary]) -> list[str]:
    """A heading per summary, with the setting where a task has more than one."""
    times = Counter(summary.task for summary in summaries)
    return [heading(s.task) + (f", {s.setting or 'setting unknown'}" if times[s.task] > 1 else "") for s in summaries]


def other_judges(summaries: Sequence[TaskSummary], judge: str) -> list[str]:
    """A warning per judge other than the table's whose judgements are among the rows."""
    rows: Counter[str] = Counter()
    for summary in summaries:
        rows.update(summary.judges)
    return [
        f"WARNING: {n} rows were judged by {other}, not by {judge}."
        for other, n in sorted(rows.items())
        if other != judge
    ]
