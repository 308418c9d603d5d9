"""Table 1: what a change of the answer does to the user turn, a row a model and task, tested on the same rows.

Runs in, tables out; it reads their rows, for the tests are paired. Source: arXiv 2604.02315, Table 1. How much the
paper cuts is not published, so its value stands beside every fraction.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from eval.dialogue import Dialogue
from eval.finished_runs import Run
from eval.paper.comparison import Comparison, compare, outcomes_of
from eval.paper.headings import place
from eval.paper.lineup import UNPERTURBED, Group, Lineup, line_up
from eval.paper.model_table import rate, subject, summary_of
from eval.paper.published import read_paper
from eval.stats.paired import holm
from eval.summary import TaskSummary
from eval.table import Cell, Table

NEEDS = "a run with a perturbation, and the same run without it"
TITLES = {"truncate": "Table 1: truncated answers", "append_question": "Table 1: answers with a question appended"}
COLUMNS = (
    "model, task, perturbation",
    "genuine %, base (paper)",
    "genuine %, perturbed (paper)",
    "genuine, difference",
    "p (Holm)",
    "specific %, base",
    "specific %, perturbed",
    "user turns changed %",
)
NOTES = (
    "Rates: 95 % Wilson score intervals over all judged rows of a run; n=judged/all where rows are unjudged. In "
    "parentheses: the paper's value, — where it has none or it is not at hand.",
    "difference: perturbed minus base in points, on the rows judged in both (n), 95 % interval of Bonett and Price. "
    "p: two-sided exact McNemar test on the same rows, adjusted over this table by Holm. "
    "Turns of real users (controls) are never perturbed and are left out.",
    "user turns changed: text differs from the unperturbed run's, of the rows with a user turn in both (n).",
)


@dataclass(frozen=True)
class _Line:
    name: str
    run: Run
    """The perturbed one."""
    base: TaskSummary
    perturbed: TaskSummary
    comparison: Comparison


def build(runs: Sequence[Run]) -> list[Table]:
    """A table per kind of perturbation; none where no perturbed run has its unperturbed one."""
    lineup = _perturbed(runs)
    lines: dict[str, list[_Line]] = {}
    for group in lineup.groups:
        for line in _lines(group):
            lines.setdefault(_kind(line.run), []).append(line)
    alone = [run.name for group in lineup.groups if UNPERTURBED not in group.runs for run in group.runs.values()]
    missing = [f"Left out, for want of the same run without perturbation: {', '.join(alone)}."] if alone else []
    notes = (*NOTES, f"All rows: {lineup.common}.", *missing)
    kinds = [*(kind for kind in TITLES if kind in lines), *sorted(lines.keys() - TITLES.keys())]
    return [Table(TITLES.get(kind, f"Table 1: {kind}"), COLUMNS, tuple(_rows(lines[kind])), notes) for kind in kinds]


def _perturbed(runs: Sequence[Run]) -> Lineup:
    """The groups that hold a perturbed run."""
    groups = line_up(runs, "perturbation").groups
    chosen = [
        run for group in groups if any(run.perturbed for run in group.runs.values()) for run in group.runs.values()
    ]
    return line_up(chosen, "perturbation")


def _lines(group: Group) -> Iterator[_Line]:
    """A line per perturbation, task and setting that a perturbed run and its unperturbed one measured."""
    base = group.runs.get(UNPERTURBED)
    if base is None:
        return
    before = outcomes_of(_perturbable(base))
    for variant, run in sorted(group.runs.items()):
        if run is base:
            continue
        found = compare(before, outcomes_of(_perturbable(run)))
        for one in sorted(found, key=lambda one: (one.setting == "held-out", place(one.task))):
            was, now = (summary_of(either.summaries, one.task, one.setting) for either in (base, run))
            if was is not None and now is not None:
                yield _Line(f"{group.name}, {subject(one.task, one.setting)}, {variant}", run, was, now, one)


def _perturbable(run: Run) -> Iterator[Dialogue]:
    """Its rows without the controls: no perturbation reaches the turn of a real user, so there is nothing to test."""
    return (row for row in run.rows() if not row.real_user)


def _kind(run: Run) -> str:
    return str(run.protocol["perturbation"]["name"])


def _rows(lines: Sequence[_Line]) -> Iterator[tuple[Cell, ...]]:
    adjusted = holm([line.comparison.genuine.p_value for line in lines])
    for line, p in zip(lines, adjusted, strict=True):
        pairs = line.comparison.genuine
        yield (
            Cell(line.name),
            rate(line.base, "genuine").beside(_paper(line, "base")),
            rate(line.perturbed, "genuine").beside(_paper(line, _kind(line.run))),
            Cell.estimate(pairs.difference, pairs.interval(), pairs.n),
            Cell.p_value(p),
            rate(line.base, "specific"),
            rate(line.perturbed, "specific"),
            Cell.rate(line.comparison.changed, with_n=True),
        )


def _paper(line: _Line, condition: str) -> float | None:
    if line.comparison.setting != "self-generated":
        return None
    column = {"task": line.comparison.task, "measure": "genuine", "temperature": line.run.temperature}
    return read_paper().value("table1", line.run.model, **column, condition=condition)
