"""The tables of the page: the results of all runs, the paper's tables that the runs fill, and all counts.

Cells are laid out for reading: the number first, then its interval and n in a lighter style with a small drawing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from eval.finished_runs import Run
from eval.paper import run_tables
from eval.paper.headings import place
from eval.paper.model_table import subject, summary_of
from eval.report_page.facts import Facts
from eval.report_page.marks import Mark, Scale, Segment, segments
from eval.summary import TaskSummary
from eval.table import UNKNOWN, Cell, Table, each_note_once
from eval.tables import table2

MEASURES: tuple[tuple[str, Callable[[TaskSummary], Cell]], ...] = (
    ("N", lambda s: Cell.number(s.total)),
    ("judged", lambda s: Cell.number(s.judged)),
    ("genuine %", lambda s: Cell.rate(s.genuine)),
    ("specific %", lambda s: Cell.rate(s.specific)),
    ("accuracy %", lambda s: Cell.rate(s.accuracy, with_n=s.accuracy.n != s.total)),
    ("cut off", lambda s: Cell.number(s.states["truncated"])),
    ("tokens", lambda s: Cell.number(s.mean_user_tokens, digits=1)),
)
RESULT_NOTES = (
    "genuine: the judge's binary decision that the user turn is a genuine follow-up. specific: its label is "
    "genuine_followup. Both over the judged rows, with 95 % Wilson score intervals.",
    "accuracy: of the model's own answers that could be graded. cut off: user turns that reached their token limit; "
    "they are judged as is. tokens: mean length of a user turn.",
    "Unjudged rows (N minus judged) count in no rate. Settings and runs are never pooled.",
)


@dataclass(frozen=True)
class ShownCell:
    """A cell: the number, its interval and n, its drawing."""

    head: str
    rest: str
    mark: Mark | None
    link: str | None


@dataclass(frozen=True)
class ShownRow:
    """A named row; `tag` is the letter of its run, if there are several runs."""

    name: str
    tag: str | None
    cells: tuple[ShownCell, ...]
    link: str | None = None


@dataclass(frozen=True)
class Column:
    """A heading; `scale` is that of its drawings, and a `wide` column has room for more than the number.

    A column of `words` has no numbers; its cells may wrap.
    """

    name: str
    scale: Scale | None = None
    wide: bool = False
    words: bool = False


@dataclass(frozen=True)
class ShownTable:
    """Columns, and rows in groups, each with an optional heading."""

    title: str
    columns: tuple[Column, ...]
    groups: tuple[tuple[str | None, tuple[ShownRow, ...]], ...]
    notes: tuple[str, ...]

    @property
    def width(self) -> int:
        """Grid columns: a wide column takes two."""
        return sum(1 + column.wide for column in self.columns)

    @property
    def drawn(self) -> bool:
        """Whether any column has a scale."""
        return any(column.scale for column in self.columns)


@dataclass(frozen=True)
class Shares:
    """The label shares of one run on one task."""

    group: str | None
    name: str
    tag: str | None
    judged: int
    segments: tuple[Segment, ...]


def results(runs: Sequence[Run], facts: Facts) -> ShownTable:
    """The results of every run: one row per task for one run, or per run under each task for several."""
    measured = [
        (group, [(name, tag, [measure(summary) for _, measure in MEASURES]) for name, tag, summary in members])
        for group, members in _by_task(runs, facts)
    ]
    cells = [cells for _, members in measured for *_, cells in members]
    columns = _columns([name for name, _ in MEASURES], cells)
    return ShownTable(
        "Results",
        (Column("task" if len(runs) == 1 else "run"), *columns),
        tuple(
            (group, tuple(ShownRow(name, tag, _cells(cells, columns)) for name, tag, cells in members))
            for group, members in measured
        ),
        RESULT_NOTES,
    )


def label_shares(runs: Sequence[Run], facts: Facts) -> list[Shares]:
    """The labels of the judged user turns, one bar per run and task, in the order of `results`."""
    return [
        Shares(group, name, tag, summary.judged, tuple(segments(summary.labels)))
        for group, members in _by_task(runs, facts)
        for name, tag, summary in members
    ]


def paper_tables(runs: Sequence[Run]) -> tuple[list[ShownTable], list[str]]:
    """The paper's tables that these runs fill, and a line for each of the others that says what it needs."""
    built = run_tables.build(runs, run_tables.names())
    shown = [laid_out(table) for one in built for table in each_note_once(one.tables)]
    return shown, [f"{one.title} is left out: {one.lacks}." for one in built if not one.tables]


def details(runs: Sequence[Run], facts: Facts) -> list[tuple[str, list[ShownTable]]]:
    """Every count of each run, under its name: the layout of Table 2, the detail per task, the labels."""
    shown = []
    for run, about in zip(runs, facts.runs, strict=True):
        built = table2.build(about.name, run.summaries, table2.Protocol.of(run.protocol))
        shown.append((f"{about.tag} · {about.name}" if len(runs) > 1 else about.name, [laid_out(one) for one in built]))
    return shown


def laid_out(table: Table) -> ShownTable:
    """The layout of any table, with a drawing for every interval."""
    columns = _columns(table.columns[1:], [cells for _, *cells in table.rows], drawn=table.columns[0] != "measure")
    rows = tuple(ShownRow(name.text, None, _cells(cells, columns), name.link) for name, *cells in table.rows)
    return ShownTable(table.title, (Column(table.columns[0]), *columns), ((None, rows),), table.notes)


def _columns(names: Sequence[str], rows: Sequence[Sequence[Cell]], drawn: bool = True) -> list[Column]:
    """The columns of numbers; columns of one measure share a scale, so that their drawings are comparable.

    Args:
        drawn: False if the cells of a column measure different things.
    """
    cells = dict(enumerate(zip(*rows, strict=True))) if rows else {}
    measured = [_measure(name) for name in names]
    scales = {
        measure: Scale.over(cell for i, column in cells.items() if measured[i] == measure for cell in column)
        for measure in set(measured)
    }
    columns = []
    for i, name in enumerate(names):
        own = cells.get(i, ())
        scale = scales[measured[i]] if drawn and Scale.over(own) else None
        words = all(cell.value is None and cell.n is None for cell in own) and any(cell.text != UNKNOWN for cell in own)
        columns.append(Column(name, scale, not words and any(" " in cell.text for cell in own), words))
    return columns


def _measure(column: str) -> str:
    """The measure of a column by its heading; by default follow-up rates or label shares."""
    return next((word for word in ("accuracy", "difference", "changed") if word in column), "rate")


def _by_task(runs: Sequence[Run], facts: Facts) -> list[tuple[str | None, list[tuple[str, str | None, TaskSummary]]]]:
    """Groups of (row name, tag, summary): the tasks of a single run, or the runs under the heading of each task."""
    found = {(summary.task, summary.setting) for run in runs for summary in run.summaries}
    tasks = sorted(found, key=lambda one: (one[1] == "held-out", place(one[0]), one[1] or ""))
    if len(runs) == 1:
        only = [(subject(*task), None, summary_of(runs[0].summaries, *task)) for task in tasks]
        return [(None, [(name, tag, summary) for name, tag, summary in only if summary])]
    groups: list[tuple[str | None, list[tuple[str, str | None, TaskSummary]]]] = []
    for task in tasks:
        each = [
            (about.name, about.tag, summary_of(run.summaries, *task))
            for run, about in zip(runs, facts.runs, strict=True)
        ]
        groups.append((subject(*task), [(name, tag, summary) for name, tag, summary in each if summary]))
    return groups


def _cells(cells: Sequence[Cell], columns: Sequence[Column]) -> tuple[ShownCell, ...]:
    return tuple(_shown(cell, column) for cell, column in zip(cells, columns, strict=True))


def _shown(cell: Cell, column: Column) -> ShownCell:
    head, _, rest = (cell.text, "", "") if column.words else cell.text.partition(" ")
    return ShownCell(head, rest, Mark.of(cell, column.scale), cell.link)
