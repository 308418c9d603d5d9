"""Write the paper's tables and figures to files, and print the tables."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from eval import plugin, table
from eval.paper import drawing
from eval.run_dir import write_atomically
from eval.runs import Run

TABLES = (1, 3, 4, 5, 6)
"""A probe writes Table 2 itself."""
WRITERS = {"md": table.to_markdown, "csv": table.to_csv, "tex": table.to_latex, "json": table.to_json}


def write_tables(runs: Sequence[Run], out: Path, numbers: Sequence[int]) -> list[Path]:
    """Print the tables and write them; returns the files. A table without a row is said to lack what it needs."""
    out.mkdir(parents=True, exist_ok=True)
    written = []
    for number in numbers:
        module = plugin.load("eval.tables", f"table{number}")
        tables = module.build(runs)
        if not tables:
            print(f"Table {number}: left out, it needs {module.NEEDS}\n")
            continue
        print(table.to_terminal(_each_note_once(tables), shutil.get_terminal_size(fallback=(120, 40)).columns))
        for ending, render in WRITERS.items():
            written.append(out / f"table{number}.{ending}")
            write_atomically(written[-1], render(tables))
    return written


def _each_note_once(tables: Sequence[table.Table]) -> list[table.Table]:
    """The tables for a terminal, where a note that several share stands under the last of them."""
    later = [{note for other in tables[place + 1 :] for note in other.notes} for place in range(len(tables))]
    return [
        replace(one, notes=tuple(note for note in one.notes if note not in repeated))
        for one, repeated in zip(tables, later, strict=True)
    ]


def write_figures(runs: Sequence[Run], out: Path) -> list[Path]:
    """Draw and write every figure of `eval/figures/`; returns the files."""
    out.mkdir(parents=True, exist_ok=True)
    written = []
    for name in plugin.names("eval.figures"):
        module = plugin.load("eval.figures", name)
        drawings = module.build(runs)
        if not drawings:
            print(f"figure {name}: left out, it needs {module.NEEDS}\n")
        for title, figure in drawings.items():
            written += drawing.write(figure, out / f"figure_{title}")
    return written
