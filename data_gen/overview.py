"""Overview of a run before it starts: seeds, plans, styles, turns, and the maximum cost."""

from __future__ import annotations

from collections import Counter

from data_gen.data_set import finished
from data_gen.generation_parts import GenerationParts
from data_gen.plan import Plan
from eval.config import ConfigError, Plugin
from eval.probe_run import open_rows
from eval.table import Cell, Table


def overview(parts: GenerationParts) -> Table:
    """Everything that is planned; the cost covers only conversations that earlier runs have not made."""
    config = parts.config
    missing = _missing_plans(parts)
    exchanges = sum(len(plan.styles) for plan in parts.plans)
    lacking = sum(len(plan.styles) for plan in missing)
    styles = Counter(name for plan in parts.plans for name in plan.styles)
    rows = [
        *((Cell(f"seeds of {name}"), Cell.number(len(found))) for name, found in parts.seeds.items()),
        (Cell("seeds rejected"), Cell.number(len(parts.refused))),
        (Cell("conversations"), Cell.number(len(parts.plans))),
        (Cell("already made"), Cell.number(len(parts.plans) - len(missing))),
        *((Cell(f"user turns, {name}"), Cell.number(styles[name])) for name in parts.styles),
        (Cell("generated turns, both sides"), Cell.number(2 * exchanges)),
        (
            Cell("teacher, US dollars at most"),
            Cell.number(_bound(parts.teacher.cost_bound, 2 * lacking, config.teacher), 2),
        ),
        (Cell("judge, US dollars at most"), Cell.number(_bound(parts.judge.cost_bound, lacking, config.judge), 2)),
    ]
    compared = ", ".join(f"{name} ({rows} rows)" for name, rows in parts.evaluation.rows.items())
    notes = [
        f"teacher {parts.teacher.id}, judge {parts.judge.id}",
        f"compared with the rows of {compared or 'nothing'}",
    ]
    notes += [f"NOT compared with {name}: {why.split(' (')[0]}" for name, why in parts.evaluation.missing.items()]
    notes += _short_budget("teacher", parts.teacher.cost_bound, 2 * lacking, config.teacher)
    notes += _short_budget("judge", parts.judge.cost_bound, lacking, config.judge)
    return Table(f"Plan of {config.folder}", ("", "n"), tuple(rows), tuple(notes))


def _short_budget(who: str, dollars: float | None, turns: int, paid: Plugin) -> list[str]:
    """A note if the budget is below the maximum cost, so that some turns may not be paid for; else nothing."""
    budget = paid.options.get("budget_usd")
    if budget is None or dollars is None or dollars * turns <= budget:
        return []
    bound = f"the maximum cost of {dollars * turns:,.2f} dollars (every turn at its length limit)"
    return [
        f"{who}.budget_usd {budget:,.2f} is below {bound}; turns beyond it fail; raise it and run again to retry them"
    ]


def _missing_plans(parts: GenerationParts) -> list[Plan]:
    """The plans whose conversations are not made yet; all plans while another process holds the folder."""
    if not parts.config.retry_failed and finished(parts):
        return []
    path = parts.config.folder / "work" / "made.jsonl"
    if not path.is_file():
        return list(parts.plans)
    try:
        with open_rows(path) as made:
            return [plan for plan in parts.plans if made.missing(parts.key(plan))]
    except ConfigError:
        return list(parts.plans)


def dollars_at_most(parts: GenerationParts) -> float | None:
    """Maximum cost of teacher and judge for what is not made yet; None if one has neither a price nor a budget."""
    lacking = sum(len(plan.styles) for plan in _missing_plans(parts))
    teacher = _bound(parts.teacher.cost_bound, 2 * lacking, parts.config.teacher)
    judge = _bound(parts.judge.cost_bound, lacking, parts.config.judge)
    return None if teacher is None or judge is None else teacher + judge


def _bound(dollars: float | None, turns: int, paid: Plugin) -> float | None:
    """Upper bound of the cost of `turns`, capped by the budget; None if there is neither a price nor a budget."""
    bounds = [bound for bound in (dollars and dollars * turns, paid.options.get("budget_usd")) if bound is not None]
    return min(bounds, default=None)
