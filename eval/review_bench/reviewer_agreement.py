"""Agreement of reviewers with each other and with the judges of the runs: a table like the paper's Table 7."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from eval.agreement_table import kappa_cell
from eval.gold import context_hash
from eval.rater_agreement import kappa, percent_agreement
from eval.review_bench.items import ReviewItem
from eval.review_bench.store import ReviewStore
from eval.stats.kappa_interval import kappa_interval
from eval.table import Cell, Table

COLUMNS = ("pair", "n", "first yes %", "second yes %", "agree %", "kappa", "label agree %", "label kappa")
INTERVAL = "In brackets: 95 % bootstrap interval over contexts; — if the variance of kappa is unknown."
BALANCED = "The sample is balanced: shares of yes, agreement and kappa apply to the sample, not to the runs."


@dataclass(frozen=True)
class Rater:
    """A reviewer or a judge, with its complete decisions: position -> (label, binary)."""

    name: str
    decided: Mapping[int, tuple[str, bool]]


def agreement_table(store: ReviewStore) -> Table:
    """Every pair of reviewers, and every reviewer with every judge, on the items with complete decisions by both."""
    items = dict(store.items())
    reviewers, judges = _reviewers(store), _judges(items)
    pairs = [*combinations(reviewers, 2), *((reviewer, judge) for reviewer in reviewers for judge in judges)]
    contexts = {position: context_hash(item.dialogue.messages[:-2]) for position, item in items.items()}
    notes = [f"{one.name}: {len(one.decided)} of {store.count} items decided completely" for one in reviewers]
    notes += [INTERVAL] if pairs else []
    notes += [BALANCED] if str(store.protocol["sample"]).startswith("balanced") else []
    rows = tuple(_row(first, second, contexts) for first, second in pairs)
    return Table("Agreement of reviewers and judges", COLUMNS, rows, tuple(notes))


def _reviewers(store: ReviewStore) -> list[Rater]:
    return [
        Rater(
            name,
            {
                position: (decision.label, decision.genuine)
                for position, decision in store.decisions(name).items()
                if decision.label is not None and decision.genuine is not None
            },
        )
        for name in store.annotators()
    ]


def _judges(items: Mapping[int, ReviewItem]) -> list[Rater]:
    decided: dict[str, dict[int, tuple[str, bool]]] = {}
    for position, item in items.items():
        for judgement in item.judgements:
            decided.setdefault(judgement.judge, {})[position] = (judgement.label, judgement.genuine)
    return [Rater(judge, theirs) for judge, theirs in decided.items()]


def _row(first: Rater, second: Rater, contexts: Mapping[int, str]) -> tuple[Cell, ...]:
    both = sorted(first.decided.keys() & second.decided.keys())
    labels, other_labels = ([rater.decided[position][0] for position in both] for rater in (first, second))
    binary, other_binary = ([rater.decided[position][1] for position in both] for rater in (first, second))
    within = [contexts[position] for position in both]
    return (
        Cell(f"{first.name} / {second.name}"),
        Cell.number(len(both)),
        *(_percent(sum(yes) / len(both) if both else None) for yes in (binary, other_binary)),
        *_agreement(binary, other_binary, within),
        *_agreement(labels, other_labels, within),
    )


def _agreement(first: Sequence[Hashable], second: Sequence[Hashable], contexts: Sequence[str]) -> tuple[Cell, Cell]:
    value = kappa(first, second)
    interval = None if value is None else kappa_interval(first, second, contexts)
    return _percent(percent_agreement(first, second)), kappa_cell(value, interval, rated=bool(first))


def _percent(share: float | None) -> Cell:
    return Cell.number(None if share is None else 100 * share, digits=1)
