"""Table 1: the effect of perturbing the answer on the user turn, one row per model and task, with paired tests.

Runs in, tables out; it reads their rows, because the tests are paired. Source: arXiv 2604.02315, Table 1. The paper
does not say how much it truncates, so its value is shown for every fraction.
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
    "parentheses: the paper's value, — if it has none or it is not available.",
    "difference: perturbed minus base in points, on the rows judged in both (n), 95 % interval of Bonett and Price. "
    "p: two-sided exact McNemar test on the same rows, adjusted over this table by Holm. "
    "Turns of real users (controls) are never perturbed and are left out.",
    "user turns changed: share of the rows with a user turn in both runs (n) whose text differs.",
)


@dataclass(frozen=True)
class _Line:
    name: str
    run: Run
    """The perturbed run."""
    base: TaskSummary
    perturbed: TaskSummary
    comparison: Comparison


def build(runs: Sequence[Run]) -> list[Table]:
    """A table per kind of perturbation; none if no perturbed run comes with its unperturbed one."""
    lineup = _perturbed_groups(runs)
    lines: dict[str, list[_Line]] = {}
    for group in lineup.groups:
        for line in _lines(group):
            lines.setdefault(_perturbation_name(line.run), []).append(line)
    alone = [run.name for group in lineup.groups if UNPERTURBED not in group.runs for run in group.runs.values()]
    missing = [f"Left out, as the same run without perturbation is missing: {', '.join(alone)}."] if alone else []
    notes = (*NOTES, f"All rows: {lineup.common}.", *missing)
    kinds = [*(kind for kind in TITLES if kind in lines), *sorted(lines.keys() - TITLES.keys())]
    return [Table(TITLES.get(kind, f"Table 1: {kind}"), COLUMNS, tuple(_rows(lines[kind])), notes) for kind in kinds]


def _perturbed_groups(runs: Sequence[Run]) -> Lineup:
    """The groups that contain a perturbed run."""
    groups = line_up(runs, "perturbation").groups
    chosen = [
        run for group in groups if any(run.perturbed for run in group.runs.values()) for run in group.runs.values()
    ]
    return line_up(chosen, "perturbation")


def _lines(group: Group) -> Iterator[_Line]:
    """A line per perturbation, task and setting that both a perturbed run and its unperturbed one measured."""
    base = group.runs.get(UNPERTURBED)
    if base is None:
        return
    before = outcomes_of(_perturbable(base))
    for variant, run in sorted(group.runs.items()):
        if run is base:
            continue
        comparisons = compare(before, outcomes_of(_perturbable(run)))
        for one in sorted(comparisons, key=lambda one: (one.setting == "held-out", place(one.task))):
            was, now = (summary_of(either.summaries, one.task, one.setting) for either in (base, run))
            if was is not None and now is not None:
                yield _Line(f"{group.name}, {subject(one.task, one.setting)}, {variant}", run, was, now, one)


def _perturbable(run: Run) -> Iterator[Dialogue]:
    """Its rows without the controls: the turn of a real user is never perturbed, so there is nothing to test."""
    return (row for row in run.rows() if not row.real_user)


def _perturbation_name(run: Run) -> str:
    return str(run.protocol["perturbation"]["name"])


def _rows(lines: Sequence[_Line]) -> Iterator[tuple[Cell, ...]]:
    adjusted = holm([line.comparison.genuine.p_value for line in lines])
    for line, p in zip(lines, adjusted, strict=True):
        pairs = line.comparison.genuine
        yield (
            Cell(line.name),
            rate(line.base, "genuine").beside(_paper_value(line, "base")),
            rate(line.perturbed, "genuine").beside(_paper_value(line, _perturbation_name(line.run))),
            Cell.estimate(pairs.difference, pairs.interval(), pairs.n),
            Cell.p_value(p),
            rate(line.base, "specific"),
            rate(line.perturbed, "specific"),
            Cell.rate(line.comparison.changed, with_n=True),
        )


def _paper_value(line: _Line, condition: str) -> float | None:
    if line.comparison.setting != "self-generated":
        return None
    column = {"task": line.comparison.task, "measure": "genuine", "temperature": line.run.temperature}
    return read_paper().value("table1", line.run.model, **column, condition=condition)
