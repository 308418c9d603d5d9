"""Table 6: label shares of the user turns per family, greedy decoding, all self-generated tasks together.

Runs in, table out; it reads the rows, because contexts repeat across models and tasks. Source: arXiv 2604.02315,
Table 6.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from eval.finished_runs import Run
from eval.labels import LABELS
from eval.paper.label_shares import LabelCounts, count_labels
from eval.paper.lineup import by_family, line_up, select
from eval.paper.published import read_paper
from eval.table import Cell, Table

NEEDS = "unperturbed runs at temperature 0 with a self-generated task"
NOTES = (
    "Shares of the judged user turns (n). A family with several runs shows the unweighted mean of its runs' shares; "
    "rows of different runs are not pooled.",
    "95 % intervals: Wilson score if every row has its own context, otherwise a bootstrap over contexts. In "
    "parentheses: the paper's share, — if it has no such label or family. Labels without a paper value are ours.",
)


def build(runs: Sequence[Run]) -> list[Table]:
    """One table with a column per family, the paper's labels first; none without such runs."""
    greedy, notes = select(runs, temperature=0.0)
    greedy = [run for run in greedy if any(s.setting == "self-generated" and s.judged for s in run.summaries)]
    if not greedy:
        return []
    families = by_family(greedy)
    counted = {family: count_labels(members, "self-generated") for family, members in families.items()}
    members = [
        f"{family}: {', '.join(group.name for group in line_up(of_family).groups)}."
        for family, of_family in families.items()
    ]
    rows = tuple(
        (Cell(label), *(_cell(label, family, counts) for family, counts in counted.items()))
        for label in _labels(counted.values())
    )
    columns = ("label", *(f"{family} % (paper)" for family in counted))
    footer = (*NOTES, f"All rows: {line_up(greedy).common}.", *members, *notes)
    return [Table("Table 6: labels of the user turns per family", columns, rows, footer)]


def _labels(counted: Iterable[LabelCounts]) -> list[str]:
    published = list(read_paper().tables["table6"].rows)
    given = {label for counts in counted for label in counts.labels}
    return list(dict.fromkeys([*published, *LABELS, *sorted(given)]))


def _cell(label: str, family: str, counts: LabelCounts) -> Cell:
    point, interval = counts.share(label)
    return Cell.estimate(point, interval, counts.rows).beside(read_paper().value("table6", label, family=family))
