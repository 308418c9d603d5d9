"""A table: a title, columns, rows of cells, notes; as text and markdown for people, as CSV and JSON for machines.

It knows no measure: `eval/tables/` decides what stands in a cell. Text is data: nothing in it can change a rendering.
"""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from eval.stats import Rate

UNKNOWN = "—"
DIGITS = 4
"""Decimals of exported numbers: enough for any n here, and above what differs between floating-point libraries."""
MARKS = re.compile(r"[\\`*|<&~]|\](?=[(\[:])|_(?![^\W_])|(?<![^\W_])_")
"""What markdown could take for markup; an underscore inside a word is not, so that names stay readable."""


@dataclass(frozen=True)
class Cell:
    """What a person reads, and the numbers behind it. An unknown value is None and reads "—"."""

    text: str
    value: float | None = None
    """A count, a mean, or a rate in percent."""
    low: float | None = None
    high: float | None = None
    """Ends of the 95 % interval, in percent."""
    successes: int | None = None
    n: int | None = None

    @classmethod
    def number(cls, value: float | None, digits: int = 0) -> Cell:
        """A count or a mean, shown with `digits` decimals."""
        return cls(UNKNOWN) if value is None else cls(f"{value:.{digits}f}", value=round(value, DIGITS))

    @classmethod
    def rate(cls, rate: Rate, with_n: bool = False) -> Cell:
        """A rate in percent with its 95 % Wilson interval, "62.9 [60.3, 65.5]", and on request its n."""
        tail = f" n={rate.n}" if with_n else ""
        interval = rate.interval()
        if rate.point is None or interval is None:
            return cls(UNKNOWN + tail, successes=rate.successes, n=rate.n)
        value, low, high = 100 * rate.point, 100 * interval.low, 100 * interval.high
        return cls(
            text=f"{value:.1f} [{low:.1f}, {high:.1f}]{tail}",
            value=round(value, DIGITS),
            low=round(low, DIGITS),
            high=round(high, DIGITS),
            successes=rate.successes,
            n=rate.n,
        )

    @classmethod
    def share(cls, rate: Rate) -> Cell:
        """A count with its share in percent, "12 (24.0 %)"."""
        if rate.point is None:
            return cls(UNKNOWN, successes=rate.successes, n=rate.n)
        percent = 100 * rate.point
        return cls(f"{rate.successes} ({percent:.1f} %)", round(percent, DIGITS), successes=rate.successes, n=rate.n)


@dataclass(frozen=True)
class Table:
    """Rows of cells under column headings; the first cell of a row names it."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for row in self.rows:
            assert len(row) == len(self.columns), f"{self.title}: {len(row)} cells under {len(self.columns)} columns"


def to_markdown(tables: Sequence[Table]) -> str:
    """The tables as aligned markdown, one line a row however wide."""
    return "\n".join(_markdown(table) for table in tables)


def to_terminal(tables: Sequence[Table], width: int) -> str:
    """The tables wrapped to `width` columns; plain text without control codes."""
    from rich import box
    from rich.console import Console
    from rich.table import Table as Grid
    from rich.text import Text

    console = Console(file=io.StringIO(), width=width, force_terminal=False, legacy_windows=False)
    with console.capture() as capture:
        for table in tables:
            grid = Grid(box=box.SIMPLE_HEAD)
            for index, column in enumerate(table.columns):
                grid.add_column(Text(_printable(column)), justify="right" if index else "left", overflow="fold")
            for row in table.rows:
                grid.add_row(*(Text(_printable(cell.text)) for cell in row))
            notes = (Text(_printable(note)) for note in table.notes)
            console.print(Text(_printable(table.title)), grid, *notes, "", sep="\n")
    return "\n".join(line.rstrip() for line in capture.get().splitlines())


def to_csv(tables: Sequence[Table]) -> str:
    """Long form, one line per measurement: `table, row, column, value, low, high, successes, n, text`.

    `value`, `low`, `high` are in the unit that the column or row names (rates in percent) and empty where unknown.
    Text that a spreadsheet would run as a formula gets a leading apostrophe.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["table", "row", "column", "value", "low", "high", "successes", "n", "text"])
    for table in tables:
        for name, *cells in table.rows:
            for column, cell in zip(table.columns[1:], cells, strict=True):
                numbers = [cell.value, cell.low, cell.high, cell.successes, cell.n]
                words = [_inert(word) for word in (table.title, name.text, column, cell.text)]
                writer.writerow([*words[:3], *numbers, words[3]])
    return out.getvalue()


def to_json(tables: Sequence[Table]) -> str:
    """A JSON list of tables; each cell with its text and its numbers, null where there is none."""
    return json.dumps([asdict(table) for table in tables], indent=1) + "\n"


def _markdown(table: Table) -> str:
    from rich.cells import cell_len

    lines = [[_escape(text) for text in table.columns]]
    lines += [[_escape(cell.text) for cell in row] for row in table.rows]
    widths = [max(3, *(cell_len(line[i]) for line in lines)) for i in range(len(table.columns))]
    rule = ["-" * widths[0]] + ["-" * (width - 1) + ":" for width in widths[1:]]
    padded = []
    for line in lines:
        gaps = [" " * (width - cell_len(text)) for text, width in zip(line, widths, strict=True)]
        padded.append([line[0] + gaps[0]] + [gap + text for text, gap in zip(line[1:], gaps[1:], strict=True)])
    body = ["| " + " | ".join(line) + " |" for line in (padded[0], rule, *padded[1:])]
    notes = [f"- {_escape(note)}" for note in table.notes]
    return "\n".join([f"### {_escape(table.title)}", "", *body, "", *notes, *([""] if notes else [])])


def _escape(text: str) -> str:
    """Text that markdown shows as it is: on one line, without control characters, with its marks escaped."""
    return MARKS.sub(r"\\\g<0>", _printable(text))


def _printable(text: str) -> str:
    """White space as single spaces; control, format and surrogate characters as the replacement character."""
    text = " ".join(text.split())
    return "".join("\ufffd" if unicodedata.category(char)[0] == "C" else char for char in text)


def _inert(text: str) -> str:
    """Text that no spreadsheet takes for a formula."""
    text = _printable(text)
    return f"'{text}" if text[:1] in ("=", "+", "-", "@") else text
