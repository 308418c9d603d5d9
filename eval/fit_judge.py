"""Fit the local judge on labelled user turns: `python -m eval.fit_judge --gold PATH`.

Cross-validates with all items of a query on one side of each split, fits once more on everything, and writes weights,
hashes of the contexts used, and the cross-validated figures to `eval/judges/local.json`. scikit-learn fits; the judge
itself runs without it.
"""

from __future__ import annotations

import argparse
import functools
import json
from collections.abc import Callable, Hashable, Iterator, Sequence
from pathlib import Path
from typing import Any

from eval.command import command
from eval.dialogue import Judgement, Message, content_hash
from eval.gold import GoldItem, read_gold
from eval.judges.local import PARAMETERS
from eval.labels import ALWAYS_GENUINE, SPECIFIC
from eval.local_judge.constructed_turns import construct
from eval.local_judge.turn_decision import decide
from eval.local_judge.turn_features import features
from eval.local_judge.turn_model import FEATURE_LIMIT, TurnModel
from eval.local_judge.turn_text import Exchange
from eval.rater_agreement import SLICES, kappa
from eval.run_dir import write_atomically
from eval.stats.kappa_interval import kappa_interval

FOLDS = 5
SEEDS = (0, 1, 2)
"""One cross-validation with each: a single split of a few hundred items moves kappa by several points."""
CONSTRUCTED_PER_CONTEXT = 6
CONSTRUCTED_WEIGHT = 0.3
"""Total weight of the constructed turns, as a share of that of the labelled ones."""
LABEL_C, GENUINE_C, SPECIFIC_C = 0.2, 0.05, 0.05
"""Inverse strengths of the L2 penalties (scikit-learn's C). A fourth of each cross-validates alike on unseen queries,
and worse on tasks and sources left out."""
LEFT_OUT = ("source", "task")
"""Slices that are judged once more by fits without a single item of theirs."""
SMALLEST_SCALE = 0.02
"""Features that hardly vary keep their own unit, or one rare event would be worth many standard deviations."""


def exchange_of(item: GoldItem) -> Exchange:
    """What the judge reads of a labelled item."""
    return Exchange.of(item.dialogue.messages[:-1], item.dialogue.messages[-1].text)


@functools.cache
def _features(messages: tuple[Message, ...]) -> dict[str, float]:
    return features(Exchange.of(messages[:-1], messages[-1].text))


def fit(items: Sequence[GoldItem], seed: int = 0) -> TurnModel:
    """Fit the three models on labelled items and on turns constructed from their contexts."""
    import numpy as np

    made = construct(items, CONSTRUCTED_PER_CONTEXT, seed)
    everything = [*items, *made]
    rows = [_features(item.dialogue.messages) for item in everything]
    names = tuple(rows[0])
    table = np.array([[row[name] for name in names] for row in rows])
    mean, deviation = table[: len(items)].mean(axis=0), table[: len(items)].std(axis=0)
    scale = np.where(deviation < SMALLEST_SCALE, 1.0, deviation)
    x = np.clip((table - mean) / scale, -FEATURE_LIMIT, FEATURE_LIMIT)
    weight = np.full(len(everything), CONSTRUCTED_WEIGHT * len(items) / max(1, len(made)))
    weight[: len(items)] = 1.0
    labels, follows = np.array([item.label for item in everything]), np.array([item.genuine for item in everything])
    follow_ups = np.isin(labels, list(ALWAYS_GENUINE))
    by_label = _regression(x, labels, weight, LABEL_C)
    genuine = _regression(x, follows, weight, GENUINE_C)
    specific = _regression(x[follow_ups], np.isin(labels, list(SPECIFIC))[follow_ups], weight[follow_ups], SPECIFIC_C)
    return TurnModel(
        features=names,
        mean=tuple(map(_round, mean)),
        scale=tuple(map(_round, scale)),
        labels={str(name): row for name, row in zip(by_label.classes_, _weights(by_label), strict=True)},
        genuine=_weights(genuine)[0],
        specific=_weights(specific)[0],
    )


def _regression(x: Any, y: Any, weight: Any, c: float) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=c, max_iter=3000).fit(x, y, sample_weight=weight)


def _weights(fitted: Any) -> list[tuple[float, ...]]:
    """One row for each class that has one, the intercept last."""
    return [(*map(_round, row), _round(bias)) for row, bias in zip(fitted.coef_, fitted.intercept_, strict=True)]


def _round(value: float) -> float:
    return round(float(value), 5)


def judge_unseen(items: Sequence[GoldItem], seed: int = 0, left_out: str | None = None) -> list[Judgement]:
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
            model = fit(seen, seed)
            for i in (i for i in test if not left_out or SLICES[left_out](items[i]) == value):
                decision = decide(exchange_of(items[i]), model)
                judged[i] = Judgement(decision.label, decision.genuine, "local, cross-validated", decision.reason)
    return [judged[i] for i in range(len(items))]


def _splits(items: Sequence[GoldItem], seed: int) -> Iterator[tuple[Sequence[int], Sequence[int]]]:
    from sklearn.model_selection import StratifiedGroupKFold

    groups = [item.context for item in items]
    if len(set(groups)) < FOLDS:
        raise ValueError(f"{len(set(groups))} different queries cannot be cross-validated in {FOLDS} folds")
    labels = [item.label for item in items]
    return StratifiedGroupKFold(FOLDS, shuffle=True, random_state=seed).split(labels, labels, groups)


def cross_validate(items: Sequence[GoldItem]) -> dict[str, Any]:
    """Kappa of the three decisions on unseen queries for each seed, and with sources and tasks left out."""
    return {
        "folds": FOLDS,
        "seeds": list(SEEDS),
        **_kappas(items, [judge_unseen(items, seed) for seed in SEEDS]),
        "left_out": {
            name: _kappas(items, [judge_unseen(items, SEEDS[0], name)])
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


def fit_and_validate(items: Sequence[GoldItem]) -> dict[str, Any]:
    """What the parameter file holds: weights, hashes of labels and contexts, cross-validated figures."""
    return {
        "n": len(items),
        "labels": content_hash([[item.dialogue.id, item.label, item.genuine] for item in items]),
        "contexts": sorted({item.context for item in items}),
        "cross_validated": cross_validate(items),
        "model": fit(items).to_json(),
    }


@command(unusable=(ValueError, OSError))
def main(argv: Sequence[str] | None = None) -> int:
    """Fit, and write the parameter file; returns 0."""
    parser = argparse.ArgumentParser(prog="python -m eval.fit_judge", description=__doc__)
    parser.add_argument("--gold", type=Path, required=True, help="JSONL of labelled user turns")
    parser.add_argument("--out", type=Path, default=PARAMETERS, help="parameter file to write (default: %(default)s)")
    args = parser.parse_args(argv)
    fitted = fit_and_validate(read_gold(args.gold))
    write_atomically(args.out, json.dumps(fitted, indent=1) + "\n")
    print(json.dumps(fitted["cross_validated"], indent=1))
    print(f"wrote {args.out}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
