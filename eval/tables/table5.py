"""Table 5: accuracy and follow-up rates across families, greedy decoding, one table per task.

Pure: runs in, tables out. Source: arXiv 2604.02315, Table 5.
"""

from __future__ import annotations

from collections.abc import Sequence

from eval.finished_runs import Run
from eval.paper.lineup import line_up, select
from eval.paper.model_table import tables_by_task
from eval.table import Table

NEEDS = "unperturbed runs at temperature 0"


def build(runs: Sequence[Run]) -> list[Table]:
    """The tables of all models; none without such runs."""
    greedy, notes = select(runs, temperature=0.0)
    return tables_by_task("Table 5: all families", line_up(greedy), "table5", notes) if greedy else []
