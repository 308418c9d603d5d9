"""Make a data set of conversations with a user who follows up: seeds, plans, a teacher, filters, a card.

    python -m data_gen.run --config configs/data_gen/collab.yaml [--dry-run]

A killed run goes on where it was; a finished one is only filtered and written again.
"""

from __future__ import annotations

import sys

from data_gen.data_set_run import generate
from data_gen.generate_config import GenerateConfig
from data_gen.generation_parts import open_parts
from data_gen.overview import overview
from data_gen.summary import tables
from eval import table_formats
from eval.command import GOES_ON, command
from eval.command_line import load

ABOUT = "Make conversations with a user who follows up, keep what every filter passes, and write them with a card."


@command(stopped=GOES_ON)
def main(argv: list[str] | None = None) -> int:
    """Run the command line; returns 0 for a complete data set."""
    config = load(GenerateConfig, sys.argv[1:] if argv is None else argv, prog="python -m data_gen.run", about=ABOUT)
    parts = open_parts(config)
    print(table_formats.to_terminal([overview(parts)]), flush=True)
    if config.dry_run:
        return 0
    data_set = generate(config, parts=parts)
    print(table_formats.to_terminal(tables(data_set.summary)))
    print(f"data set: {data_set.folder}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
