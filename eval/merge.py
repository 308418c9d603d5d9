"""Join the shards of a run, each made by a worker of its own, into the run folder that one worker would have made.

    python -m eval.probe --config FILE --run-dir RUN --shard 1/4     and so on to 4/4, anywhere, in any order
    python -m eval.merge RUN/shards/*-of-4 --out RUN

No model and no data are read. The folder that it writes is like any other: it is completed, compared and reported.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from eval import table_formats
from eval.command import command
from eval.shard_merging import merge

ABOUT = "Join the finished shards of one run, made with --shard I/N, into one run folder with its summary and tables."


@command(stopped="the same command goes on from there")
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
    parser.add_argument("--out", type=Path, required=True, metavar="RUN", help="folder of the whole run")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
