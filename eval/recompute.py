"""Recomputes every number of a Table 2 from the rows of its runs, without a model or a judge, and lists differences.

    python -m eval.recompute DIR

DIR was written by `python -m eval.table2 ... --out DIR`. The exit status is 0 if every file is reproduced, else 1.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from eval.command import command
from eval.model_comparison.recomputing import recompute

ABOUT = "Recompute every number of a Table 2 from the rows alone, and list each cell that differs."


@command()
def main(argv: list[str] | None = None) -> int:
    """Run the command line; returns 0 if nothing differs, 1 if anything does."""
    parser = argparse.ArgumentParser("python -m eval.recompute", description=ABOUT, allow_abbrev=False)
    parser.add_argument("folder", type=Path, metavar="DIR", help="folder written by eval.table2")
    recomputed = recompute(parser.parse_args(argv).folder)
    print(*recomputed.differences, sep="\n")
    print(f"{recomputed.cells} cells in {recomputed.files} files recomputed from {recomputed.rows} rows: ", end="")
    count = len(recomputed.differences)
    print(f"{count or 'no'} difference{'' if count == 1 else 's'}")
    return 1 if recomputed.differences else 0


if __name__ == "__main__":
    raise SystemExit(main())
