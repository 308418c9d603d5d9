"""Table 7: agreement between judges, one row per slice and pair, next to the paper's numbers.

Pure: ratings in, tables out. Layout: arXiv 2604.02315, Table 7.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

from eval.agreement_table import kappa_cell
from eval.dialogue import Failure, Judgement
from eval.labels import SPECIFIC
from eval.panel_agreement import SPLIT, Agreement, PairAgreement, RatedPanel, compare_judges, split_count
from eval.paper.published import read_paper
from eval.stats.rates import Rate
from eval.table import UNKNOWN, Cell, Table

COLUMNS = (
    "slice, judge pair",
    "N",
    "unjudged",
    "genuine % of each",
    "genuine agreement %",
    "genuine kappa",
    "label agreement %",
    "label kappa",
)
NOTES = (
    "N: rows judged by both. In brackets: 95 % bootstrap interval over contexts. In parentheses: the paper's value, if "
    "it has this pair.",
    "undefined: both judges give the same answer to every row, so kappa is undefined.",
    "random: a quarter of the rows, with the first judge's share of yes. balanced: hard cases, all rows with the first "
    "judge's rarer answer and as many with the other. The paper does not say how it drew its slices; exact "
    "definitions: eval/panel_slices.py.",
)


def build(panel: RatedPanel) -> list[Table]:
    """The agreement of each pair, then the totals of each judge."""
    return [_pairs(panel), _judges(panel)]


def _pairs(panel: RatedPanel) -> Table:
    pairs = compare_judges(panel)
    rows = [_row(pair) for pair in pairs]
    measured = {paper_row(pair) for pair in pairs}
    rows += [_paper_row(name) for name in read_paper().tables["table7"].rows if name not in measured]
    splits = f"{SPLIT}: the {split_count(panel)} of {len(panel.ids)} rows on which the judges' binaries differ"
    return Table("Table 7: agreement between judges", COLUMNS, tuple(rows), (*NOTES, f"{splits}."))


def _row(pair: PairAgreement) -> tuple[Cell, ...]:
    shares = " and ".join(UNKNOWN if rate.point is None else f"{100 * rate.point:.1f}" for rate in pair.yes)
    name = paper_row(pair)
    return (
        Cell(f"{pair.slice}, {pair.judges[0]} and {pair.judges[1]}"),
        _beside(Cell.number(pair.n), name, "n"),
        Cell.number(pair.total - pair.n),
        Cell(shares),
        *_cells(pair.genuine, name, "genuine"),
        *_cells(pair.label, name, "label"),
    )


def _cells(agreement: Agreement, name: str | None, decision: str) -> tuple[Cell, Cell]:
    share = Cell.estimate(agreement.rate.point, agreement.interval, agreement.rate.n)
    share = replace(share, text=share.text.removesuffix(f" n={agreement.rate.n}"))
    kappa = kappa_cell(agreement.kappa, agreement.kappa_interval, rated=agreement.rate.n > 0)
    return _beside(share, name, f"{decision} agreement"), _beside(kappa, name, f"{decision} kappa")


def _beside(cell: Cell, name: str | None, measure: str) -> Cell:
    value = None if name is None else read_paper().value("table7", name, measure=measure)
    return cell if value is None else cell.beside(value)


def _paper_row(name: str) -> tuple[Cell, ...]:
    """A row of the paper that was not measured here, with the paper's values only."""
    values = {
        measure: read_paper().value("table7", name, measure=measure)
        for measure in ("n", "genuine agreement", "genuine kappa", "label agreement", "label kappa")
    }
    n, *figures = (Cell(f"({value:g})", paper=value) for value in values.values() if value is not None)
    return (Cell(f"paper: {name}"), n, Cell(UNKNOWN), Cell(UNKNOWN), *figures)


def paper_row(pair: PairAgreement) -> str | None:
    """The row of the paper's table for this slice and these two models; None if there is none."""
    names = [_paper_name(judge) for judge in pair.judges]
    candidates = [f"{pair.slice}, {first} and {second}" for first, second in (names, names[::-1])]
    return next((name for name in candidates if name in read_paper().tables["table7"].rows), None)


def _paper_name(judge: str) -> str | None:
    """The paper's name for the model of an OpenAI judge: "nano", "mini" or "gpt-5.4"."""
    found = re.fullmatch(r"openai-(gpt-5\.4(?:-(nano|mini))?)-\d{4}-\d{2}-\d{2}(?:-[a-z]+)?-[0-9a-f]{8}", judge)
    return None if found is None else found[2] or found[1]


def _judges(panel: RatedPanel) -> Table:
    rows = []
    for judge, results in panel.results.items():
        judged = [result for result in results if isinstance(result, Judgement)]
        kinds = Counter(result.kind for result in results if isinstance(result, Failure))
        reasons = ", ".join(f"{kind} {count}" for kind, count in sorted(kinds.items()))
        rows.append(
            (
                Cell(judge),
                Cell.number(len(judged)),
                Cell(f"{kinds.total()} ({reasons})" if kinds else "0", value=kinds.total()),
                Cell.rate(Rate(sum(one.genuine for one in judged), len(judged))),
                Cell.rate(Rate(sum(one.label in SPECIFIC for one in judged), len(judged))),
            )
        )
    return Table("Judges on all rows", ("judge", "judged", "failed", "genuine %", "specific %"), tuple(rows))
