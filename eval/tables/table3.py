"""Table 3: scaling of accuracy and follow-up rates within a family, greedy decoding, one table per family and task.

Pure: runs in, tables out. Source: arXiv 2604.02315, Table 3 (Qwen3.5).
"""

from __future__ import annotations

from collections.abc import Sequence

from eval.finished_runs import Run
from eval.paper.lineup import by_family, line_up, select
from eval.paper.model_table import tables_by_task
from eval.table import Table

NEEDS = "unperturbed runs at temperature 0"


def build(runs: Sequence[Run]) -> list[Table]:
    """The tables of every family; none without such runs."""
    greedy, notes = select(runs, temperature=0.0)
    return [
        table
        for family, members in by_family(greedy).items()
        for table in tables_by_task(f"Table 3: {family} scaling", line_up(members), "table3", notes)
    ]
