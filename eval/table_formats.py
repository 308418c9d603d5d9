"""A table as text and markdown for a reader, LaTeX for a paper, CSV and JSON for programs.

Text is treated as data: it is escaped so that it cannot change the rendering.
"""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import unicodedata
from collections.abc import Sequence
from dataclasses import asdict

from eval.table import Cell, Table

MARKS = re.compile(r"[\\`*|<&~]|\](?=[(\[:])|_(?![^\W_])|(?<![^\W_])_")
"""Characters that markdown could read as markup; underscores inside words stay, so that names are readable."""
LINK_MARKS = re.compile(rf"[\[\]]|{MARKS.pattern}")
"""The same inside the text of a link, where brackets matter too."""
ESCAPED = r"\\\g<0>"
LATEX = {
    **{char: f"\\{char}" for char in "&%$#_{}"},
    **{"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "|": r"\textbar{}"},
    **{"<": r"\textless{}", ">": r"\textgreater{}", "`": r"\textasciigrave{}", '"': r"{\char34}"},
    **{"-": "-{}", "'": "'{}", "—": r"\textemdash{}"},
}
"""Escapes of characters that LaTeX would read as a command or as part of a ligature."""
LATEX_MARKS = re.compile(r"[&%$#_{}\\~^|<>`\"—]|-(?=-)|'(?=')")


def to_markdown(tables: Sequence[Table]) -> str:
    """The tables as aligned markdown, one line per row."""
    return "\n".join(_markdown(table) for table in tables)


def to_terminal(tables: Sequence[Table], width: int | None = None) -> str:
    """The tables as plain text wrapped to `width` columns, by default the width of the terminal."""
    from rich import box
    from rich.console import Console
    from rich.table import Table as Grid
    from rich.text import Text

    width = width or shutil.get_terminal_size(fallback=(120, 40)).columns
    console = Console(file=io.StringIO(), width=width, force_terminal=False, legacy_windows=False)
    with console.capture() as capture:
        for table in tables:
            grid = Grid(box=box.SIMPLE_HEAD)
            for index, column in enumerate(table.columns):
                grid.add_column(Text(_printable(column)), justify="right" if index else "left", overflow="fold")
            for row in table.rows:
                grid.add_row(*(Text(_printable(cell.text)) for cell in row))
            if table.rows and console.measure(grid).maximum >= width:
                # Not `min_width`: rich ignores it while it narrows the columns, then crops the last ones.
                names = (table.columns[0], *(row[0].text for row in table.rows))
                grid.columns[0].width = min(max(map(len, names)), width // 4)
            notes = (Text(_printable(note)) for note in table.notes)
            console.print(Text(_printable(table.title)), grid, *notes, "", sep="\n")
    return "\n".join(line.rstrip() for line in capture.get().splitlines())


def to_csv(tables: Sequence[Table]) -> str:
    """Long form, one line per measurement: `table, row, column, value, low, high, successes, n, total, paper, text`.

    `value`, `low`, `high`, `paper` are in the unit that the column or row names (rates in percent), empty if unknown.
    Text that a spreadsheet would evaluate as a formula gets a leading apostrophe.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["table", "row", "column", "value", "low", "high", "successes", "n", "total", "paper", "text"])
    for table in tables:
        for name, *cells in table.rows:
            for column, cell in zip(table.columns[1:], cells, strict=True):
                numbers = [cell.value, cell.low, cell.high, cell.successes, cell.n, cell.total, cell.paper]
                words = [_inert(word) for word in (table.title, name.text, column, cell.text)]
                writer.writerow([*words[:3], *numbers, words[3]])
    return out.getvalue()


def to_json(tables: Sequence[Table]) -> str:
    """A JSON list of tables; each cell has its text and its numbers, null where unknown."""
    return json.dumps([asdict(table) for table in tables], indent=1) + "\n"


def to_latex(tables: Sequence[Table]) -> str:
    """The tables as LaTeX floats; the document needs the package booktabs."""
    return "\n".join(_latex(table) for table in tables)


def _latex(table: Table) -> str:
    columns, *rows = (
        " & ".join(map(_latex_text, texts)) + r" \\"
        for texts in (table.columns, *([cell.text for cell in row] for row in table.rows))
    )
    notes = [rf"\par\smallskip {_latex_text(note)}" for note in table.notes]
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering\scriptsize\setlength{\tabcolsep}{3pt}",
            rf"\caption{{{_latex_text(table.title)}}}",
            rf"\begin{{tabular}}{{l{'r' * (len(table.columns) - 1)}}}",
            r"\toprule",
            columns,
            r"\midrule",
            *rows,
            r"\bottomrule",
            r"\end{tabular}",
            *notes,
            r"\end{table}",
            "",
        ]
    )


def _latex_text(text: str) -> str:
    """Text that LaTeX prints literally; a leading [ or * would be read as an argument of the previous command."""
    escaped = LATEX_MARKS.sub(lambda mark: LATEX[mark[0]], _printable(text))
    return "{}" + escaped if escaped[:1] in ("[", "*") else escaped


def _markdown(table: Table) -> str:
    from rich.cells import cell_len

    lines = [[_escape(text) for text in table.columns]]
    lines += [[_linked(cell) for cell in row] for row in table.rows]
    widths = [max(3, *(cell_len(line[i]) for line in lines)) for i in range(len(table.columns))]
    rule = ["-" * widths[0]] + ["-" * (width - 1) + ":" for width in widths[1:]]
    padded = []
    for line in lines:
        gaps = [" " * (width - cell_len(text)) for text, width in zip(line, widths, strict=True)]
        padded.append([line[0] + gaps[0]] + [gap + text for text, gap in zip(line[1:], gaps[1:], strict=True)])
    body = ["| " + " | ".join(line) + " |" for line in (padded[0], rule, *padded[1:])]
    notes = [f"- {_escape(note)}" for note in table.notes]
    return "\n".join([f"### {_escape(table.title)}", "", *body, "", *notes, *([""] if notes else [])])


def _linked(cell: Cell) -> str:
    """A cell as markdown, as a link if it has one."""
    if cell.link is None:
        return _escape(cell.text)
    return f"[{LINK_MARKS.sub(ESCAPED, _printable(cell.text))}]({cell.link})"


def _escape(text: str) -> str:
    """Text that markdown shows literally: on one line, without control characters, with markup escaped."""
    return MARKS.sub(ESCAPED, _printable(text))


def _printable(text: str) -> str:
    """Text with whitespace collapsed, and control, format and surrogate characters replaced by U+FFFD."""
    text = " ".join(text.split())
    return "".join("\ufffd" if unicodedata.category(char)[0] == "C" else char for char in text)


def _inert(text: str) -> str:
    """Text that no spreadsheet evaluates as a formula."""
    text = _printable(text)
    return f"'{text}" if text[:1] in ("=", "+", "-", "@") else text
