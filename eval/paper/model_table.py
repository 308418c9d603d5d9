"""The layout of Tables 3 and 5: one table per task, one row per model, with its accuracy and follow-up rates."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from eval.paper.headings import SETTINGS, heading, place
from eval.paper.lineup import Lineup
from eval.paper.published import read_paper
from eval.stats.rates import Rate
from eval.summary import Setting, TaskSummary
from eval.table import UNKNOWN, Cell, Table

HOW_TO_READ = (
    "95 % intervals are Wilson score intervals; n=judged/all where rows are unjudged. In parentheses: the paper's "
    "value, — if it has none. genuine: the judge's binary decision; specific: the label genuine_followup."
)


def tables_by_task(title: str, lineup: Lineup, published: str, notes: Iterable[str]) -> list[Table]:
    """One table per task and setting of the runs in `lineup`, whose groups hold one run each.

    Args:
        published: the paper's table whose values are shown next to the measured ones, such as "table3".
    """
    footer = (HOW_TO_READ, f"All rows: {lineup.common}.", *notes)
    return [
        replace(_table(title, lineup, task, setting, published), notes=footer) for task, setting in tasks_of(lineup)
    ]


def tasks_of(lineup: Lineup) -> list[tuple[str, Setting | None]]:
    """The tasks of the runs with their settings, in display order, held-out last."""
    found = {(s.task, s.setting) for group in lineup.groups for run in group.runs.values() for s in run.summaries}
    return sorted(found, key=lambda one: (one[1] == "held-out", place(one[0]), one[1] or ""))


def subject(task: str, setting: Setting | None) -> str:
    """The task and setting of a table or panel, for its title."""
    return heading(task) if setting == "self-generated" else f"{heading(task)} ({SETTINGS[setting]})"


def summary_of(summaries: Iterable[TaskSummary], task: str, setting: Setting | None) -> TaskSummary | None:
    """The summary of one task in one setting, if it was measured."""
    return next((s for s in summaries if (s.task, s.setting) == (task, setting)), None)


def temperatures_of(lineup: Lineup, task: str, setting: Setting | None) -> list[float]:
    """The temperatures at which a task was measured."""
    runs = [run for group in lineup.groups for run in group.runs.values()]
    return sorted({run.temperature for run in runs if summary_of(run.summaries, task, setting)})


def _table(title: str, lineup: Lineup, task: str, setting: Setting | None, published: str) -> Table:
    found = [(group, summary_of(group.first.summaries, task, setting)) for group in lineup.groups]
    measured = [(group, summary) for group, summary in found if summary is not None]
    graded = any(summary.accuracy.n for _, summary in measured)
    rows = []
    for group, summary in measured:
        accuracy, genuine = (
            rate(summary, measure).beside(_paper_value(published, group.first.model, task, setting, measure))
            for measure in ("accuracy", "genuine")
        )
        rows.append((Cell(group.name), *([accuracy] if graded else []), genuine, rate(summary, "specific")))
    columns = ("model", *(["accuracy % (paper)"] if graded else []), "genuine % (paper)", "specific %")
    return Table(f"{title}, {subject(task, setting)}", columns, tuple(rows))


def _paper_value(published: str, model: str, task: str, setting: Setting | None, measure: str) -> float | None:
    if setting != "self-generated":
        return None
    return read_paper().value(published, model, task=task, measure=measure, temperature=0.0)


MEASURES: dict[str, Callable[[TaskSummary], Rate]] = {
    "accuracy": lambda summary: summary.accuracy,
    "genuine": lambda summary: summary.genuine,
    "specific": lambda summary: summary.specific,
}


def rate(summary: TaskSummary | None, measure: str) -> Cell:
    """One measure of a task with its n and interval; unknown without a summary."""
    if summary is None:
        return Cell(UNKNOWN)
    return Cell.rate(MEASURES[measure](summary), with_n=True, total=summary.total)
