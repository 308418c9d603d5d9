"""Merge the shards of a run, each made by its own worker, into the run folder that a single worker would have made.

    python -m eval.probe --config FILE --run-dir RUN --shard 1/4     and so on to 4/4, anywhere, in any order
    python -m eval.merge RUN/shards/*-of-4 --out RUN

It reads no model and no data. The resulting folder is an ordinary run folder.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from eval import table_formats
from eval.command import command
from eval.shard_merging import merge

ABOUT = "Merge the finished shards of one run, made with --shard I/N, into one run folder with its summary and tables."


@command(stopped="the same command resumes the merge")
def main(argv: list[str] | None = None) -> int:
    """Run the command line; returns 0 for a complete run."""
    options = _parser().parse_args(argv)
    _, tables = merge(options.shards, options.out)
    print(table_formats.to_terminal(tables))
    print(f"run folder: {options.out}")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m eval.merge", description=ABOUT, allow_abbrev=False)
    parser.add_argument("shards", type=Path, nargs="+", metavar="SHARD_RUN", help="folder of each finished shard")
    parser.add_argument("--out", type=Path, required=True, metavar="RUN", help="folder of the merged run")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
