"""Instruction following in full: IFEval and IFBench at prompt and instruction level, strict and loose.

Rows in, table out. The answers are graded again, from their text: give rows whose answers no perturbation has changed.
Layout: arXiv 2311.07911, Table 3. Beside the published checkers stand those of `eval/grading/corrected_checkers.py`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from eval.dialogue import Dialogue
from eval.grading.instruction_following import Verdict, verdicts
from eval.stats.rates import Rate
from eval.table import Cell, Table

TASKS = {"ifeval": "IFEval", "ifbench": "IFBench"}
HEADLINES = {"ifeval": "strict", "ifbench": "loose"}
"""The verdict that each benchmark reports, and that `correct` holds."""
MEASURES = ("prompt-level strict %", "prompt-level loose %", "instruction-level strict %", "instruction-level loose %")
NOTES = (
    "Published: the checkers of if-verifiable 0.1.2. Corrected: with known faults of four of them put right; "
    "comparable with no paper.",
    "Headline: prompt-level strict for IFEval, prompt-level loose for IFBench. Every graded answer counts in n, an "
    "empty one as failed; a row without an answer counts in N alone. Instructions of one answer are not independent, "
    "so the intervals at instruction level are too narrow.",
)


def build(rows: Iterable[Dialogue]) -> list[Table]:
    """One table of the IFEval and IFBench rows among `rows`; none if there are none.

    Raises:
        ValueError: a row's answer is not the one that was graded when the row was made.
        FileNotFoundError: no NLTK data.
    """
    counts: dict[str, _Counts] = {}
    for row in rows:
        if row.task in TASKS:
            counts.setdefault(row.task, _Counts()).add(row)
    present = [task for task in TASKS if task in counts]
    if not present:
        return []
    columns = ("measure", *(f"{TASKS[task]}, {kind}" for task in present for kind in ("published", "corrected")))
    lines = [
        (Cell(measure), *(Cell.rate(rate, with_n=True) for task in present for rate in counts[task].rates(measure)))
        for measure in MEASURES
    ]
    totals = (Cell("N"), *(Cell.number(counts[task].total) for task in present for _ in range(2)))
    return [Table("Instruction following", columns, (*lines, totals), NOTES)]


@dataclass
class _Counts:
    """The verdicts of one task: a list per graded answer, by the published checkers and by the corrected ones."""

    total: int = 0

    def __post_init__(self) -> None:
        self.published: list[list[Verdict]] = []
        self.corrected: list[list[Verdict]] = []

    def add(self, row: Dialogue) -> None:
        """Grade the answer of one row."""
        self.total += 1
        published, corrected = verdicts(row), verdicts(row, corrected=True)
        if published is None or corrected is None:
            return
        headline = all(getattr(verdict, HEADLINES[row.task]) for verdict in published)
        if row.correct is not headline:
            raise ValueError(
                f"{row.task} row {row.id} was graded {row.correct}, and its answer is now {headline}: the answer was "
                "changed by a perturbation, or the checkers are another version; use the run without a perturbation"
            )
        self.published.append(published)
        self.corrected.append(corrected)

    def rates(self, measure: str) -> tuple[Rate, Rate]:
        """The rate by the published checkers and by the corrected ones."""
        level, name = measure.removesuffix(" %").split("-level ")
        return _rate(self.published, level, name), _rate(self.corrected, level, name)


def _rate(answers: list[list[Verdict]], level: str, name: str) -> Rate:
    passed = [[bool(getattr(verdict, name)) for verdict in answer] for answer in answers]
    outcomes = [all(answer) for answer in passed] if level == "prompt" else [one for answer in passed for one in answer]
    return Rate(sum(outcomes), len(outcomes))
