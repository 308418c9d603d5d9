"""Make a data set of conversations with a user who follows up: seeds, plans, a teacher, filters, a card.

    python -m data_gen.run --config configs/data_gen/collab.yaml [--dry-run | --retry-failed]

A killed run resumes from its last row. A finished data set is only read: its files keep their hashes, which training
runs have in their manifests. With `--retry-failed`, conversations that failed are retried, and it is written
again. With other settings in the same folder it is replaced, after a warning that names them.
"""

from __future__ import annotations

import sys

from data_gen.data_set import finished
from data_gen.data_set_run import generate
from data_gen.generate_config import GenerateConfig
from data_gen.generation_parts import open_parts
from data_gen.overview import overview
from data_gen.summary import tables
from eval import table_formats
from eval.command import RESUMES, command
from eval.command_line import load

ABOUT = "Make conversations with a user who follows up, keep what every filter passes, and write them with a card."


@command(stopped=RESUMES)
def main(argv: list[str] | None = None) -> int:
    """Run the command line; returns 0 for a complete data set."""
    config = load(GenerateConfig, sys.argv[1:] if argv is None else argv, prog="python -m data_gen.run", about=ABOUT)
    parts = open_parts(config)
    data_set = None if config.retry_failed else finished(parts)
    if data_set is None or config.dry_run:
        print(table_formats.to_terminal([overview(parts)]), flush=True)
    if config.dry_run:
        return 0
    data_set = data_set or generate(config, parts=parts)
    print(table_formats.to_terminal(tables(data_set.summary)))
    if failed := data_set.summary.failed:
        kinds = ", ".join(f"{kind} {count}" for kind, count in failed.items())
        print(f"conversations that failed: {sum(failed.values())} ({kinds}); retry them with --retry-failed")
    print(f"data set: {data_set.folder}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
