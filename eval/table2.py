"""Table 2: Base and the models trained from it, compared on the same rows, with a verdict on each number of the paper.

    python -m eval.table2 RUN_BASE RUN_SFT RUN_RL --out DIR [--cross RUN...] [--labels GOLD] [--force]

The first run is Base. DIR gets table2.md, .csv, .tex and .json, a page with the rows of each cell, and the list of its
sources; `python -m eval.recompute DIR` recomputes every number from the rows. With labelled user turns, the table also
has each follow-up rate corrected for the judge's errors.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from eval import table_formats
from eval.command import command
from eval.model_comparison.writing import Sources, tables_of, write
from eval.table import each_note_once
from eval.tracked_results import add_options, chosen, report_tables

ABOUT = "Compare models on the same rows: Table 2 next to the paper's numbers, with a verdict on each."


@command()
def main(argv: list[str] | None = None) -> int:
    """Run the command line; returns 0."""
    options = _parser().parse_args(argv)
    report_to = chosen(options)
    sources = Sources(tuple(options.runs), tuple(options.cross), options.force, options.labels)
    comparison = sources.compare()
    correction = sources.correct(comparison)
    files = write(sources, comparison, options.out, correction)
    shown = [one for one in tables_of(comparison, correction) if not one.title.startswith("Labels")]
    print(table_formats.to_terminal(each_note_once(shown)))
    report_tables(report_to, "table2", options.out, [*options.runs, *options.cross], shown, files)
    print(*(f"wrote {path}" for path in files if path.parent == options.out), sep="\n")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m eval.table2", description=ABOUT, allow_abbrev=False)
    parser.add_argument("runs", type=Path, nargs="+", metavar="RUN", help="folder of a finished run; the first is Base")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder to write into")
    parser.add_argument(
        "--cross",
        type=Path,
        nargs="+",
        default=[],
        metavar="RUN",
        help="runs on the answers of Base; also recognized among the RUNs by their protocol",
    )
    parser.add_argument(
        "--labels",
        type=Path,
        metavar="GOLD",
        help="JSONL of labelled user turns, sampled from the rows or of other models, to correct the follow-up rates",
    )
    parser.add_argument("--force", action="store_true", help="include runs of another protocol, and mark them")
    add_options(parser)
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
