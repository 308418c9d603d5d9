"""Fit the local judge on labelled user turns: `python -m eval.fit_judge --gold PATH`.

Cross-validates with all items of a query on one side of each split, fits once more on everything, and writes weights,
hashes of the contexts used, and the cross-validated figures to `eval/judges/local.json`. scikit-learn fits; the judge
itself runs without it.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from eval.command import command
from eval.dialogue import Judgement
from eval.gold import GoldItem, read_gold
from eval.judges.local import PARAMETERS
from eval.local_judge.constructed_turns import construct
from eval.local_judge.turn_decision import decide
from eval.local_judge.turn_features import features
from eval.local_judge.turn_model import FEATURE_LIMIT, TurnModel
from eval.local_judge.turn_text import Exchange
from eval.rater_agreement import kappa, percent_agreement

FOLDS = 5
SEEDS = (0, 1, 2)
"""One cross-validation with each: a single split of a few hundred items moves kappa by several points."""
CONSTRUCTED_PER_CONTEXT = 6
CONSTRUCTED_WEIGHT = 0.3
"""Total weight of the constructed turns, as a share of that of the labelled ones."""
LABEL_C, GENUINE_C = 0.2, 0.05
"""Inverse strengths of the L2 penalties (scikit-learn's C). A fourth of each cross-validates alike on unseen queries,
and worse on tasks and sources left out."""
SMALLEST_SCALE = 0.02
"""Features that hardly vary keep their own unit, or one rare event would be worth many standard deviations."""


def exchange_of(item: GoldItem) -> Exchange:
    """What the judge reads of a labelled item."""
    return Exchange.of(item.dialogue.messages[:-1], item.dialogue.messages[-1].text)


def fit(items: Sequence[GoldItem], seed: int = 0) -> TurnModel:
    """Fit both models on labelled items and on turns constructed from their contexts."""
    import numpy as np
    from sklearn.linear_model import LogisticRegression

    made = construct(items, CONSTRUCTED_PER_CONTEXT, seed)
    everything = [*items, *made]
    rows = [features(exchange_of(item)) for item in everything]
    names = tuple(rows[0])
    table = np.array([[row[name] for name in names] for row in rows])
    mean, deviation = table[: len(items)].mean(axis=0), table[: len(items)].std(axis=0)
    scale = np.where(deviation < SMALLEST_SCALE, 1.0, deviation)
    x = np.clip((table - mean) / scale, -FEATURE_LIMIT, FEATURE_LIMIT)
    weight = np.full(len(everything), CONSTRUCTED_WEIGHT * len(items) / max(1, len(made)))
    weight[: len(items)] = 1.0
    label = LogisticRegression(C=LABEL_C, max_iter=3000).fit(x, [i.label for i in everything], sample_weight=weight)
    genuine = [item.genuine for item in everything]
    binary = LogisticRegression(C=GENUINE_C, max_iter=3000).fit(x, genuine, sample_weight=weight)
    rounded = [[*map(_round, row), _round(bias)] for row, bias in zip(label.coef_, label.intercept_, strict=True)]
    return TurnModel(
        features=names,
        mean=tuple(map(_round, mean)),
        scale=tuple(map(_round, scale)),
        labels={str(name): tuple(row) for name, row in zip(label.classes_, rounded, strict=True)},
        genuine=(*map(_round, binary.coef_[0]), _round(binary.intercept_[0])),
    )


def _round(value: float) -> float:
    return round(float(value), 5)


def judge_unseen(items: Sequence[GoldItem], seed: int = 0) -> list[Judgement]:
    """A judgement for each item by a model fitted without any item on the same query, in the order of `items`.

    Raises:
        ValueError: fewer different queries than folds.
    """
    from sklearn.model_selection import StratifiedGroupKFold

    groups = [item.context for item in items]
    if len(set(groups)) < FOLDS:
        raise ValueError(f"{len(set(groups))} different queries cannot be cross-validated in {FOLDS} folds")
    labels = [item.label for item in items]
    judged: dict[int, Judgement] = {}
    for train, test in StratifiedGroupKFold(FOLDS, shuffle=True, random_state=seed).split(labels, labels, groups):
        model = fit([items[i] for i in train], seed)
        for i in test:
            decision = decide(exchange_of(items[i]), model)
            judged[i] = Judgement(decision.label, decision.genuine, "local, cross-validated", decision.reason)
    return [judged[i] for i in range(len(items))]


def cross_validate(items: Sequence[GoldItem]) -> dict[str, Any]:
    """Kappa and agreement of binary and label for each seed, on unseen queries."""
    figures: dict[str, Any] = {"folds": FOLDS, "seeds": list(SEEDS), "binary": [], "label": []}
    for seed in SEEDS:
        judged = judge_unseen(items, seed)
        for name, given, gold in (
            ("binary", [j.genuine for j in judged], [i.genuine for i in items]),
            ("label", [j.label for j in judged], [i.label for i in items]),
        ):
            figures[name].append({"kappa": kappa(gold, given), "agreement": percent_agreement(gold, given)})
    return figures


def fit_and_validate(items: Sequence[GoldItem]) -> dict[str, Any]:
    """What the parameter file holds: weights, hashes of the contexts that they come from, cross-validated figures."""
    return {
        "n": len(items),
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
    args.out.write_text(json.dumps(fitted, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(fitted["cross_validated"], indent=1))
    print(f"wrote {args.out}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
