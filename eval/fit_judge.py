"""Fit an embedded judge on labelled user turns: `python -m eval.fit_judge --gold PATH [--judge local_encoder]`.

Cross-validates with all items of a query on one side of each split, fits once more on everything, and writes weights,
hashes of the contexts used, and the cross-validated figures to the judge's file in `eval/judges/`, such as
`local.json`. scikit-learn fits; the judge itself runs without it.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Hashable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

from eval.command import command
from eval.dialogue import Judgement, content_hash
from eval.gold import GoldItem, read_gold
from eval.judges import local, local_encoder
from eval.labels import SPECIFIC
from eval.local_judge.sentence_encoder import SentenceEncoder, package_folder
from eval.local_judge.turn_decision import decide
from eval.local_judge.turn_fit import exchange_of, fit_words
from eval.local_judge.turn_model import Prediction
from eval.local_judge.turn_text import Exchange
from eval.local_judge.vector_fit import fit_vectors
from eval.rater_agreement import SLICES, kappa
from eval.run_dir import write_atomically
from eval.stats.kappa_interval import kappa_interval

FOLDS = 5
SEEDS = (0, 1, 2)
"""One cross-validation with each: a single split of a few hundred items moves kappa by several points."""
LEFT_OUT = ("source", "task")
"""Slices that are judged once more by fits without a single item of theirs."""
PARAMETERS = {"local": local.PARAMETERS, "local_encoder": local_encoder.PARAMETERS}


class Fitted(Protocol):
    """What a fit gives: it weighs an exchange, and can be written down."""

    def __call__(self, exchange: Exchange) -> Prediction: ...

    def to_json(self) -> dict[str, Any]: ...


Fit = Callable[[Sequence[GoldItem], int], Fitted]


def fit_of(judge: str) -> Fit:
    """How a judge of `PARAMETERS` is fitted on items, with a seed.

    Raises:
        ConfigError: the encoder's package is missing.
    """
    if judge == "local":
        return fit_words
    encoder = SentenceEncoder(package_folder())
    return lambda items, seed: fit_vectors(items, encoder, seed)


def judge_unseen(
    items: Sequence[GoldItem], fit: Fit = fit_words, seed: int = 0, left_out: str | None = None
) -> list[Judgement]:
    """A judgement for each item by a model fitted without any item on the same query, in the order of `items`.

    With `left_out`, a name of `SLICES`, by one that has not seen the item's slice either (its source, its task).

    Raises:
        ValueError: fewer different queries than folds.
    """
    judged: dict[int, Judgement] = {}
    for train, test in _splits(items, seed):
        values = {SLICES[left_out](items[i]) for i in test} if left_out else {None}
        for value in sorted(values, key=str):
            seen = [items[i] for i in train if not left_out or SLICES[left_out](items[i]) != value]
            weigh = fit(seen, seed)
            for i in (i for i in test if not left_out or SLICES[left_out](items[i]) == value):
                decision = decide(exchange_of(items[i]), weigh)
                judged[i] = Judgement(decision.label, decision.genuine, "cross-validated", decision.reason)
    return [judged[i] for i in range(len(items))]


def _splits(items: Sequence[GoldItem], seed: int) -> Iterator[tuple[Sequence[int], Sequence[int]]]:
    from sklearn.model_selection import StratifiedGroupKFold

    groups = [item.context for item in items]
    if len(set(groups)) < FOLDS:
        raise ValueError(f"{len(set(groups))} different queries cannot be cross-validated in {FOLDS} folds")
    labels = [item.label for item in items]
    return StratifiedGroupKFold(FOLDS, shuffle=True, random_state=seed).split(labels, labels, groups)


def cross_validate(items: Sequence[GoldItem], fit: Fit = fit_words) -> dict[str, Any]:
    """Kappa of the three decisions on unseen queries for each seed, and with sources and tasks left out."""
    return {
        "folds": FOLDS,
        "seeds": list(SEEDS),
        **_kappas(items, [judge_unseen(items, fit, seed) for seed in SEEDS]),
        "left_out": {
            name: _kappas(items, [judge_unseen(items, fit, SEEDS[0], name)])
            for name in LEFT_OUT
            if len({SLICES[name](item) for item in items}) > 1
        },
    }


def _kappas(items: Sequence[GoldItem], runs: Sequence[Sequence[Judgement]]) -> dict[str, Any]:
    """Kappa of each run, and the interval of all runs together, contexts resampled whole.

    "specific_if_genuine" is of the items that gold and judge both call genuine: there, specific or generic alone.
    """
    rated = [list(zip(items, run, strict=True)) for run in runs]
    both_follow = [[(i, j) for i, j in run if i.genuine and j.genuine] for run in rated]
    return {
        "binary": _kappa(rated, lambda one: one.genuine),
        "label": _kappa(rated, lambda one: one.label),
        "specific": _kappa(rated, lambda one: one.label in SPECIFIC),
        "specific_if_genuine": _kappa(both_follow, lambda one: one.label in SPECIFIC),
    }


def _kappa(
    runs: Sequence[Sequence[tuple[GoldItem, Judgement]]], decision: Callable[[GoldItem | Judgement], Hashable]
) -> dict[str, Any]:
    pairs = [pair for run in runs for pair in run]
    interval = kappa_interval(
        [decision(item) for item, _ in pairs],
        [decision(judgement) for _, judgement in pairs],
        [item.context for item, _ in pairs],
    )
    return {
        "kappa": [kappa([decision(item) for item, _ in run], [decision(judged) for _, judged in run]) for run in runs],
        "interval": [interval.low, interval.high] if interval else None,
    }


def fit_and_validate(items: Sequence[GoldItem], fit: Fit = fit_words) -> dict[str, Any]:
    """What the parameter file holds: weights, hashes of labels and contexts, cross-validated figures."""
    return {
        "n": len(items),
        "labels": content_hash([[item.dialogue.id, item.label, item.genuine] for item in items]),
        "contexts": sorted({item.context for item in items}),
        "cross_validated": cross_validate(items, fit),
        **fit(items, SEEDS[0]).to_json(),
    }


@command(unusable=(ValueError, OSError))
def main(argv: Sequence[str] | None = None) -> int:
    """Fit, and write the parameter file; returns 0."""
    parser = argparse.ArgumentParser(prog="python -m eval.fit_judge", description=__doc__)
    parser.add_argument("--gold", type=Path, required=True, help="JSONL of labelled user turns")
    parser.add_argument("--judge", choices=PARAMETERS, default="local", help="which judge (default: %(default)s)")
    parser.add_argument("--out", type=Path, help="parameter file to write (default: the judge's own)")
    args = parser.parse_args(argv)
    fitted = fit_and_validate(read_gold(args.gold), fit_of(args.judge))
    out = args.out or PARAMETERS[args.judge]
    write_atomically(out, json.dumps(fitted, indent=1) + "\n")
    print(json.dumps(fitted["cross_validated"], indent=1))
    print(f"wrote {out}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
