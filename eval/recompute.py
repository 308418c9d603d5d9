"""Make every number of a Table 2 again from the rows of its runs, without a model or a judge, and name what differs.

    python -m eval.recompute DIR

DIR is one that `python -m eval.table2 ... --out DIR` has written. Ends with 0 where every file is as the rows say, with
1 where one is not.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from eval.command import command
from eval.model_comparison.recomputing import recompute

ABOUT = "Make every number of a Table 2 again from the rows alone, and name each cell that differs."


@command()
def main(argv: list[str] | None = None) -> int:
    """Run the command line; returns 0 if nothing differs, 1 if anything does."""
    parser = argparse.ArgumentParser("python -m eval.recompute", description=ABOUT, allow_abbrev=False)
    parser.add_argument("folder", type=Path, metavar="DIR", help="folder that eval.table2 has written")
    found = recompute(parser.parse_args(argv).folder)
    print(*found.differences, sep="\n")
    print(f"{found.cells} cells in {found.files} files made again from {found.rows} rows: ", end="")
    print(f"{len(found.differences)} differences" if found.differences else "all as written")
    return 1 if found.differences else 0


if __name__ == "__main__":
    raise SystemExit(main())
