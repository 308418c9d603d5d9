"""The paper's tables and figures from finished run folders.

    python -m eval.paper_tables runs/sweep/* --out results

Each table is printed and written as table<n>.md, .csv, .tex and .json, each figure as .png and .svg. Runs of different
protocol stand in rows of their own; what a table cannot use it says in its notes.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from eval.config import ConfigError
from eval.paper.writing import TABLES, write_figures, write_tables
from eval.runs import read_runs

ABOUT = "Write the paper's tables and figures from finished run folders."


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
