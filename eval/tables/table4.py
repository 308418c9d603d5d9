"""Table 4: follow-up rates by the sampling temperature of the user turn, one table per task.

Pure: runs in, tables out. Source: arXiv 2604.02315, Table 4.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from eval.finished_runs import Run
from eval.paper.lineup import Lineup, line_up, select
from eval.paper.model_table import HOW_TO_READ, rate, subject, summary_of, tasks_of, temperatures_of
from eval.paper.published import read_paper
from eval.summary import Setting
from eval.table import Cell, Table

NEEDS = "unperturbed runs that share a task at two temperatures or more"


def build(runs: Sequence[Run]) -> list[Table]:
    """A table per task and setting measured at two or more temperatures, with two rows per model."""
    unperturbed, notes = select(runs)
    lineup = line_up(unperturbed, "sampling.temperature")
    footer = (HOW_TO_READ, f"All rows: {lineup.common}.", *notes)
    tables = []
    for task, setting in tasks_of(lineup):
        temperatures = temperatures_of(lineup, task, setting)
        if len(temperatures) > 1:
            title = f"Table 4: follow-up % by temperature, {subject(task, setting)}"
            columns = ("model", *(f"T={temperature:g}" for temperature in temperatures))
            tables.append(Table(title, columns, tuple(_rows(lineup, task, setting, temperatures)), footer))
    return tables


def _rows(
    lineup: Lineup, task: str, setting: Setting | None, temperatures: Sequence[float]
) -> Iterator[tuple[Cell, ...]]:
    for group in lineup.groups:
        runs = [group.runs.get(temperature) for temperature in temperatures]
        summaries = [summary_of(run.summaries, task, setting) if run else None for run in runs]
        if any(summaries):
            published = [_paper_value(group.first.model, task, setting, temperature) for temperature in temperatures]
            genuine = [rate(s, "genuine").beside(p) for s, p in zip(summaries, published, strict=True)]
            yield Cell(f"{group.name}, genuine (paper)"), *genuine
            yield Cell(f"{group.name}, specific"), *(rate(summary, "specific") for summary in summaries)


def _paper_value(model: str, task: str, setting: Setting | None, temperature: float) -> float | None:
    if setting != "self-generated":
        return None
    return read_paper().value("table4", model, task=task, measure="genuine", temperature=temperature)
