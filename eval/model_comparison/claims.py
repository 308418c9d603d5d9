"""The value of the paper's Table 2 for a measured model, and whether the paper's values apply to the comparison."""

from __future__ import annotations

from eval.finished_runs import Run
from eval.model_comparison.metric import Metric
from eval.model_comparison.verdict import Claim
from eval.paper.published import read_paper

BASE = "Base"
"""The paper's row for the model before training."""


def claim_of(name: str | None, metric: Metric) -> Claim | None:
    """The paper's value of a metric for the model `name`, or for Base if `name` is None; None if there is no value."""
    paper = read_paper()
    rows = {row.casefold(): row for row in paper.tables["table2"].rows}
    row = BASE if name is None else rows.get(name.casefold())
    column = {"task": metric.task, "measure": metric.measure}
    value = None if row is None else paper.value("table2", row, **column)
    if value is None:
        return None
    base = None if name is None else paper.value("table2", BASE, **column)
    return Claim(value, base, paper.rows[metric.task])


def why_no_claims(base: Run) -> str:
    """Why the paper's values do not apply to models trained from this one; empty if they do."""
    paper_model = read_paper().tables["table2"].model
    if base.model != paper_model:
        return f"the paper's Table 2 is about {paper_model}, and the first run is of {base.model}"
    if base.temperature:
        return f"the paper's Table 2 is taken as greedy, and these user turns have temperature {base.temperature:g}"
    return ""
