"""The paper's tables and figures from finished run folders.

    python -m eval.paper_tables runs/sweep/* --out results

Each table is printed and written as table<n>.md, .csv, .tex and .json, each figure as .png and .svg. Runs of different
protocol stand in rows of their own; what a table cannot use it says in its notes.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from eval import plugin, table
from eval.config import ConfigError
from eval.paper import drawing as figure
from eval.run_dir import write_atomically
from eval.runs import Run, read_runs

ABOUT = "Write the paper's tables and figures from finished run folders."
TABLES = (1, 3, 4, 5, 6)
WRITERS = {"md": table.to_markdown, "csv": table.to_csv, "tex": table.to_latex, "json": table.to_json}


def main(argv: list[str] | None = None) -> int:
    """Run the command line; returns 0, 1 if the runs hold nothing asked for, 2 for a folder that is no finished run."""
    options = _parser().parse_args(argv)
    try:
        runs = read_runs(options.runs)
        written = write_tables(runs, options.out, options.tables)
        if options.figures:
            written += write_figures(runs, options.out)
    except ConfigError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print("\n".join(f"wrote {path}" for path in written))
    return 0 if written else 1


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
        print(table.to_terminal(_each_note_once(tables), shutil.get_terminal_size().columns))
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
        for title, drawing in drawings.items():
            written += figure.write(drawing, out / f"figure_{title}")
    return written


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m eval.paper_tables", description=ABOUT, allow_abbrev=False)
    parser.add_argument("runs", type=Path, nargs="+", metavar="RUN", help="folder of a finished run")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder to write into")
    parser.add_argument(
        "--tables", type=_numbers, default=TABLES, metavar="N,N", help="tables to write (default: 1,3,4,5,6)"
    )
    parser.add_argument("--figures", action="store_true", help="draw the figures too")
    return parser


def _numbers(text: str) -> tuple[int, ...]:
    numbers = tuple(int(number) for number in text.split(",") if number.isdecimal())
    if len(numbers) != text.count(",") + 1 or not set(numbers) <= set(TABLES):
        known = ", ".join(map(str, TABLES))
        raise argparse.ArgumentTypeError(f"{text!r}; choose among {known} (a probe writes Table 2 itself)")
    return numbers


if __name__ == "__main__":
    raise SystemExit(main())
