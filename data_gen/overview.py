"""What a run will make, before it starts: seeds, plans, styles, turns, and what these cost at most."""

from __future__ import annotations

from collections import Counter

from data_gen.generation_parts import Parts
from eval.config import Plugin
from eval.table import Cell, Table


def overview(parts: Parts) -> Table:
    """Everything that is planned, whether an earlier run made it or not."""
    config = parts.config
    exchanges = sum(len(plan.styles) for plan in parts.plans)
    styles = Counter(name for plan in parts.plans for name in plan.styles)
    rows = [
        *((Cell(f"seeds of {name}"), Cell.number(len(found))) for name, found in parts.seeds.items()),
        (Cell("seeds refused"), Cell.number(len(parts.refused))),
        (Cell("conversations"), Cell.number(len(parts.plans))),
        *((Cell(f"user turns, {name}"), Cell.number(styles[name])) for name in parts.styles),
        (Cell("generated turns, of both sides"), Cell.number(2 * exchanges)),
        (Cell("teacher, US dollars at most"), _bound(parts.teacher.cost_bound, 2 * exchanges, config.teacher)),
        (Cell("judge, US dollars at most"), _bound(parts.judge.cost_bound, exchanges, config.judge)),
    ]
    compared = ", ".join(f"{name} ({rows} rows)" for name, rows in parts.evaluation.rows.items())
    notes = [
        f"teacher {parts.teacher.id}, judge {parts.judge.id}",
        f"compared with the rows of {compared or 'nothing'}",
    ]
    notes += [f"NOT compared with {name}: {why.split(' (')[0]}" for name, why in parts.evaluation.missing.items()]
    return Table(f"Plan of {config.folder}", ("", "n"), tuple(rows), tuple(notes))


def _bound(dollars: float | None, turns: int, paid: Plugin) -> Cell:
    """An upper bound of a cost, which a budget may lower; unknown where there is no price."""
    bounds = [bound for bound in (dollars and dollars * turns, paid.options.get("budget_usd")) if bound is not None]
    return Cell.number(min(bounds, default=None), 2)
