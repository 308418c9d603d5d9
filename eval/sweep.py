"""Probe models x answers x perturbations x temperatures from one configuration, each cell in its own run folder.

    python -m eval.sweep --config configs/eval/sweep_smollm2.yaml --data-dir DATA [--dry-run]

Finished cells are not run again, so a killed sweep resumes. The answers of a model are generated once, by its first
cell, and reused by all cells on these answers.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from eval import table_formats
from eval.client.spender import start_spending
from eval.command import RESUMES, command
from eval.command_line import load
from eval.finished_runs import read_runs
from eval.model_comparison.writing import Sources, write
from eval.model_comparison.writing import tables_of as comparison_tables
from eval.paper import run_tables
from eval.paper.writing import write_figures, write_tables
from eval.probe_run import probe
from eval.report_page.page import pages_of, write_page
from eval.resources import ResourceCache
from eval.run_dir import refuse_working_folder
from eval.sweep_board import Board
from eval.sweep_config import Cell, SweepConfig
from eval.sweep_estimate import estimate
from eval.table import each_note_once
from eval.tracked_results import report_tables

ABOUT = "Probe every model on all answers, perturbations and temperatures, in one folder of run folders."


@command(stopped=RESUMES)
def main(argv: list[str] | None = None) -> int:
    """Run the command line; returns 0 for a complete sweep."""
    config = load(SweepConfig, sys.argv[1:] if argv is None else argv, prog="python -m eval.sweep", about=ABOUT)
    refuse_working_folder(config.run_dir)
    cells = config.cells()
    opened = ResourceCache()
    print(table_formats.to_terminal([estimate(cells, opened)]), flush=True)
    if not config.dry_run:
        sweep(cells, opened)
        publish(cells, config.run_dir)
        if config.base is not None:
            compare(*config.compared(cells), config.run_dir / "table2")
    return 0


def sweep(cells: Sequence[Cell], opened: ResourceCache) -> None:
    """Complete every cell, in order. A judge's budget is that of all cells together."""
    for cell in cells:
        start_spending("judge", opened.judge(cell.config), cell.config.run_dir)
    with Board([cell.name for cell in cells]).shown() as board:
        for cell in cells:
            summaries, _ = probe(cell.config, board.running(cell.name), opened)
            board.done(cell.name, summaries)


def publish(cells: Sequence[Cell], folder: Path) -> None:
    """Print the paper's tables of all cells; write them, the figures and the report into the sweep's folder."""
    folders = [cell.config.run_dir for cell in cells]
    runs = read_runs(folders)
    written = [write_tables(runs, folder / "paper", run_tables.names()), write_figures(runs, folder / "paper")]
    write_page(runs, folder / "report.html", False)
    tables = [shown for part in written for shown in part.tables]
    print(table_formats.to_terminal(tables))
    print(*(line for part in written for line in part.left_out), sep="\n")
    report_to, files = cells[0].config.report_to, [path for part in written for path in part.files]
    report_tables(report_to, "paper_tables", folder / "paper", folders, tables, files)
    report_tables(report_to, "report", folder, folders, [], pages_of(folder / "report.html"))
    print(f"run folders: {folder}/*/*\ntables and figures: {folder}/paper\nreport: {folder}/report.html")


def compare(own: Sequence[Cell], cross: Sequence[Cell], folder: Path) -> None:
    """Print Table 2 of these cells with verdicts, and write it into `folder`, as `eval.table2` does."""
    of_own, of_cross = (tuple(cell.config.run_dir for cell in cells) for cells in (own, cross))
    sources = Sources(of_own, of_cross)
    comparison = sources.compare()
    files, tables = write(sources, comparison, folder), each_note_once(comparison_tables(comparison))
    print(table_formats.to_terminal(tables))
    report_tables(own[0].config.report_to, "table2", folder, [*of_own, *of_cross], tables, files)
    print(f"Table 2: {folder}/table2.md")


if __name__ == "__main__":
    raise SystemExit(main())
