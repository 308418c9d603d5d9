"""Probe models x answers x perturbations x temperatures from one configuration, each cell in a run folder of its own.

    python -m eval.sweep --config configs/eval/sweep_smollm2.yaml --data-dir DATA [--dry-run]

A cell that is done is read and not made again; a killed sweep goes on where it was. The answers of a model are
generated once, by its first cell, and used by all cells that react to them.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from eval import table
from eval.command import GOES_ON, command
from eval.command_line import load
from eval.judge import Judge
from eval.paper import run_tables
from eval.paper.writing import write_figures, write_tables
from eval.probe_parts import open_judge, open_speaker
from eval.probing import probe
from eval.report_page.page import write_page
from eval.runs import read_runs
from eval.speaker import Speaker
from eval.summary import TaskSummary
from eval.sweep_board import Board
from eval.sweep_config import Cell, SweepConfig
from eval.sweep_estimate import estimate

ABOUT = "Probe every model on all answers, perturbations and temperatures, in one folder of run folders."


@command(stopped=GOES_ON)
def main(argv: list[str] | None = None) -> int:
    """Run the command line; returns 0 for a complete sweep."""
    config = load(SweepConfig, sys.argv[1:] if argv is None else argv, prog="python -m eval.sweep", about=ABOUT)
    cells = config.cells()
    speakers: dict[str, Speaker] = {}
    print(table.to_terminal([estimate(cells, lambda cell: speaker_of(cell, speakers))]), flush=True)
    if not config.dry_run:
        sweep(cells, speakers)
        publish(cells, config.run_dir)
    return 0


def sweep(cells: Sequence[Cell], speakers: dict[str, Speaker]) -> dict[str, list[TaskSummary]]:
    """Complete every cell in order; returns what each adds up to."""
    results = {}
    judges: dict[str, Judge] = {}
    with Board([cell.name for cell in cells]).shown() as board:
        for cell in cells:
            speaker = replace(speaker_of(cell, speakers), tokens=Counter())
            judge = judge_of(cell, judges)
            results[cell.name], _ = probe(cell.config, board.running(cell.name), speaker, judge)
            board.done(cell.name, results[cell.name])
    return results


def publish(cells: Sequence[Cell], folder: Path) -> None:
    """Print the paper's tables over all cells; write them with the figures and the report into the sweep's folder."""
    runs = read_runs([cell.config.run_dir for cell in cells])
    written = [write_tables(runs, folder / "paper", run_tables.names()), write_figures(runs, folder / "paper")]
    write_page(runs, folder / "report.html", False)
    print(table.to_terminal([shown for part in written for shown in part.tables]))
    print(*(line for part in written for line in part.left_out), sep="\n")
    print(f"run folders: {folder}/*/*\ntables and figures: {folder}/paper\nreport: {folder}/report.html")


def speaker_of(cell: Cell, speakers: dict[str, Speaker]) -> Speaker:
    """The opened model of `cell`, which all of its cells share."""
    if cell.model not in speakers:
        speakers.clear()  # the weights of one model at a time
        speakers[cell.model] = open_speaker(cell.config)
    return speakers[cell.model]


def judge_of(cell: Cell, judges: dict[str, Judge]) -> Judge:
    """The opened judge of `cell`, shared by all cells that name the same, and with it one budget."""
    named = cell.config.judge.model_dump_json()
    if named not in judges:
        judges[named] = open_judge(cell.config)
    return judges[named]


if __name__ == "__main__":
    raise SystemExit(main())
