"""Instruction following in full: IFEval and IFBench at prompt and instruction level, strict and loose.

Runs in, tables out; the answers of unperturbed runs are graded again from their text, by the published checkers and by
those of `eval/grading/corrected_checkers.py`. Layout: arXiv 2311.07911, Table 3.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from eval.dialogue import Dialogue
from eval.finished_runs import Run
from eval.grading.instruction_following import Verdict, verdicts
from eval.paper.lineup import Group, line_up, select
from eval.paper.model_table import summary_of
from eval.stats.rates import Rate
from eval.table import Cell, Table

NEEDS = "unperturbed runs with graded answers to IFEval or IFBench"
TASKS = {"ifeval": "IFEval", "ifbench": "IFBench"}
HEADLINES = {"ifeval": "strict", "ifbench": "loose"}
"""The verdict that each benchmark reports, stored in `Dialogue.correct`."""
MEASURES = ("prompt-level strict %", "prompt-level loose %", "instruction-level strict %", "instruction-level loose %")
NOTES = (
    "Published: the checkers of if-verifiable 0.1.2. Corrected: with known bugs in four of them fixed; not comparable "
    "with published results.",
    "Headline: prompt-level strict for IFEval, prompt-level loose for IFBench. Every graded answer counts in n, an "
    "empty one as failed; a row without an answer counts only in N. Instructions of one answer are not independent, "
    "so the intervals at instruction level are too narrow.",
)


def build(runs: Sequence[Run]) -> list[Table]:
    """A table per group of runs that differ only in the temperature of the user turns, and so share their answers.

    Raises:
        FileNotFoundError: the NLTK data is missing.
        ConfigError: two runs of a group have the same temperature.
    """
    unperturbed, notes = select(runs)
    tables = []
    for group in line_up(unperturbed, "sampling.temperature").groups:
        counts = {task: _count(task, run.rows()) for task in TASKS if (run := _answering(group, task))}
        if counts:
            tables.append(_table(group.name, counts, notes))
    return tables


def _answering(group: Group, task: str) -> Run | None:
    """The first run of the group in which the model's own answers to `task` were graded."""
    for run in group.runs.values():
        summary = summary_of(run.summaries, task, "self-generated")
        if summary and summary.accuracy.n:
            return run
    return None


@dataclass
class _Counts:
    """Counts of graded answers of one task by their verdicts, for the published and for the corrected checkers."""

    total: int = 0
    regraded: int = 0
    """Answers whose headline verdict differs from the one stored in their row."""
    published: Counter[tuple[Verdict, ...]] = field(default_factory=Counter)
    corrected: Counter[tuple[Verdict, ...]] = field(default_factory=Counter)

    def rates(self, measure: str) -> tuple[Rate, Rate]:
        """The rates by the published and by the corrected checkers."""
        level, name = measure.removesuffix(" %").split("-level ")
        return _rate(self.published, level, name), _rate(self.corrected, level, name)


def _count(task: str, rows: Iterable[Dialogue]) -> _Counts:
    """Grade the answers of one task."""
    counts = _Counts()
    for row in (row for row in rows if row.task == task):
        counts.total += 1
        if row.correct is None:
            continue
        published, corrected = verdicts(row), verdicts(row, corrected=True)
        assert published is not None and corrected is not None, f"{task} row {row.id} is graded and has no answer"
        counts.regraded += row.correct is not all(getattr(verdict, HEADLINES[task]) for verdict in published)
        counts.published[tuple(published)] += 1
        counts.corrected[tuple(corrected)] += 1
    return counts


def _table(name: str, counts: dict[str, _Counts], notes: Iterable[str]) -> Table:
    columns = ("measure", *(f"{TASKS[task]}, {kind}" for task in counts for kind in ("published", "corrected")))
    lines = [
        (Cell(measure), *(Cell.rate(rate, with_n=True) for task in counts for rate in counts[task].rates(measure)))
        for measure in MEASURES
    ]
    totals = (Cell("N"), *(Cell.number(counts[task].total) for task in counts for _ in range(2)))
    warnings = [
        f"WARNING: {counted.regraded} {TASKS[task]} rows have grades by other checkers, which differ from these."
        for task, counted in counts.items()
        if counted.regraded
    ]
    return Table(f"Instruction following, {name}", columns, (*lines, totals), (*NOTES, *notes, *warnings))


def _rate(answers: Counter[tuple[Verdict, ...]], level: str, name: str) -> Rate:
    passed = [([bool(getattr(verdict, name)) for verdict in answer], times) for answer, times in answers.items()]
    outcomes = [([all(answer)], times) for answer, times in passed] if level == "prompt" else passed
    return Rate(
        sum(times * sum(answer) for answer, times in outcomes), sum(times * len(answer) for answer, times in outcomes)
    )
