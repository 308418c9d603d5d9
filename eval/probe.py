"""Probe a model: it answers, it speaks the next user turn, a judge decides, the tables are printed.

    python -m eval.probe --config configs/eval/probe.yaml --data-dir DATA

A killed run resumes from its last row; a finished one retries only rows that failed and may succeed.
"""

from __future__ import annotations

import sys

from eval import table_formats
from eval.command import RESUMES, command
from eval.command_line import load
from eval.probe_config import ProbeConfig
from eval.probe_run import probe

ABOUT = "Let a model speak the next user turn, judge it, and print the rates of genuine and specific follow-ups."


@command(stopped=RESUMES)
def main(argv: list[str] | None = None) -> int:
    """Run the command line; returns 0 for a complete run."""
    config = load(ProbeConfig, sys.argv[1:] if argv is None else argv, prog="python -m eval.probe", about=ABOUT)
    _, tables = probe(config)
    print(table_formats.to_terminal(tables))
    print(f"run folder: {config.run_dir}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
