"""How far reviewers agree with each other and with the judges of the runs: a table like the paper's Table 7."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

from eval.dialogue import Judgement
from eval.gold import GoldItem, context_hash
from eval.rater_agreement import compare
from eval.review_bench.items import ReviewItem
from eval.review_bench.store import ReviewStore
from eval.table import Cell, Table

COLUMNS = ("pair", "n", "first yes %", "second yes %", "agree %", "kappa", "label agree %", "label kappa")
Decided = Mapping[int, tuple[str, bool]]
"""Label and binary by position, of one rater."""


def agreement_table(store: ReviewStore) -> Table:
    """Every pair of reviewers, and every reviewer with every judge, on the items that both have decided in full."""
    items = dict(store.items())
    reviewers = {name: _of_reviewer(store, name) for name in store.annotators()}
    judges = _of_judges(items)
    pairs = [(a, b, reviewers[a], reviewers[b]) for a, b in combinations(reviewers, 2)]
    pairs += [(name, judge, reviewers[name], judges[judge]) for name in reviewers for judge in judges]
    rows = tuple(_row(f"{a} / {b}", compared(items, first, second)) for a, b, first, second in pairs)
    notes = [f"{name}: {len(decided)} of {store.count} items decided in full" for name, decided in reviewers.items()]
    if str(store.protocol["sample"]).startswith("balanced"):
        notes.append(
            "The sample is balanced: shares of yes, agreement and kappa are those of the sample, not of the runs."
        )
    return Table("Agreement of reviewers and judges", COLUMNS, rows, tuple(notes))


def compared(items: Mapping[int, ReviewItem], first: Decided, second: Decided) -> dict[str, Any]:
    """The report of `eval/rater_agreement.py` on the items that both have decided."""
    both = sorted(first.keys() & second.keys())
    gold = [_gold(items[position], *first[position]) for position in both]
    return compare(gold, [Judgement(*second[position], judge="second") for position in both])


def _of_reviewer(store: ReviewStore, name: str) -> dict[int, tuple[str, bool]]:
    return {
        position: (decision.label, decision.genuine)
        for position, decision in store.decisions(name).items()
        if decision.label is not None and decision.genuine is not None
    }


def _of_judges(items: Mapping[int, ReviewItem]) -> dict[str, dict[int, tuple[str, bool]]]:
    decided: dict[str, dict[int, tuple[str, bool]]] = {}
    for position, item in items.items():
        for judgement in item.judgements:
            decided.setdefault(judgement.judge, {})[position] = (judgement.label, judgement.genuine)
    return decided


def _gold(item: ReviewItem, label: str, genuine: bool) -> GoldItem:
    context = context_hash(item.dialogue.messages[:-2])
    return GoldItem(item.dialogue, label, genuine, context, item.turn.by, item.temperature)


def _row(pair: str, report: Mapping[str, Any]) -> tuple[Cell, ...]:
    binary, label = report["binary"], report["label"]
    yes = binary.get("prevalence", {"gold": None, "judge": None})
    return (
        Cell(pair),
        Cell.number(report["n"]),
        *(_percent(share) for share in (yes["gold"], yes["judge"], binary["agreement"])),
        Cell.number(binary["kappa"], digits=3),
        _percent(label["agreement"]),
        Cell.number(label["kappa"], digits=3),
    )


def _percent(share: float | None) -> Cell:
    return Cell.number(None if share is None else 100 * share, digits=1)
