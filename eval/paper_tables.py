"""The paper's tables and figures from finished run folders.

    python -m eval.paper_tables runs/sweep/* --out results

Each table is printed and written as .md, .csv, .tex and .json, each figure as .png and .svg. Runs with different
protocols get separate rows; the notes of a table say which runs it left out.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from eval import table_formats
from eval.command import command
from eval.finished_runs import read_runs
from eval.paper import run_tables
from eval.paper.writing import write_figures, write_tables
from eval.tracked_results import add_options, chosen, report_tables

ABOUT = "Write the paper's tables and figures from finished run folders."


@command()
def main(argv: list[str] | None = None) -> int:
    """Run the command line; returns 0, or 1 if the runs fill none of the chosen tables and figures."""
    options = _parser().parse_args(argv)
    report_to = chosen(options)
    runs = read_runs(options.runs)
    written = [write_tables(runs, options.out, options.tables)]
    if options.figures:
        written.append(write_figures(runs, options.out))
    tables = [shown for part in written for shown in part.tables]
    files = [path for part in written for path in part.files]
    print(table_formats.to_terminal(tables))
    print(*(line for part in written for line in part.left_out), sep="\n")
    report_tables(report_to, "paper_tables", options.out, options.runs, tables, files)
    print(*(f"wrote {path}" for path in files), sep="\n")
    return 0 if files else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m eval.paper_tables", description=ABOUT, allow_abbrev=False)
    parser.add_argument("runs", type=Path, nargs="+", metavar="RUN", help="folder of a finished run")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder to write into")
    known = run_tables.names()
    parser.add_argument(
        "--tables", type=_chosen, default=known, metavar="NAME,NAME", help=f"which (default: {','.join(known)})"
    )
    parser.add_argument("--figures", action="store_true", help="draw the figures too")
    add_options(parser)
    return parser


def _chosen(text: str) -> tuple[str, ...]:
    chosen, known = tuple(text.split(",")), run_tables.names()
    if not set(chosen) <= set(known):
        table2 = "a probe writes Table 2 of its model, eval.table2 that of several"
        raise argparse.ArgumentTypeError(f"{text!r}; choose among {', '.join(known)} ({table2})")
    return chosen


if __name__ == "__main__":
    raise SystemExit(main())
