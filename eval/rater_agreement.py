"""Agreement between raters: Cohen's kappa, percent agreement, prevalence, confusion, overall and by slice.

Cohen's kappa leads, because a judge that always says no agrees with most labels when most are no. Unjudged items are
counted and left out of every other figure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from eval.dialogue import Failure, Judgement
from eval.gold import GoldItem
from eval.judge import Judge
from eval.labels import LABELS, SPECIFIC

Pair = tuple[GoldItem, Judgement]

SLICES: dict[str, Callable[[GoldItem], str]] = {
    "task": lambda item: item.dialogue.task,
    "source": lambda item: item.source,
    "temperature": lambda item: "none" if item.temperature is None else str(item.temperature),
    "label": lambda item: item.label,
}


def kappa(first: Sequence[Hashable], second: Sequence[Hashable]) -> float | None:
    """Cohen's kappa (1960) of two raters, in [-1, 1].

    None where it is undefined: no items, or both raters give one and the same class throughout, so that chance alone
    explains all agreement. One constant rater beside a varying one has kappa 0.

    Raises:
        ValueError: the raters rate different numbers of items.
    """
    if len(first) != len(second):
        raise ValueError(f"one rater has {len(first)} items, the other {len(second)}")
    classes = list(dict.fromkeys([*first, *second]))
    if len(classes) < 2:
        return None
    from sklearn.metrics import cohen_kappa_score

    code = {value: number for number, value in enumerate(classes)}
    return float(cohen_kappa_score([code[value] for value in first], [code[value] for value in second]))


def percent_agreement(first: Sequence[Hashable], second: Sequence[Hashable]) -> float | None:
    """The share of items on which two raters agree, in [0, 1]; None without items."""
    if not first:
        return None
    return sum(a == b for a, b in zip(first, second, strict=True)) / len(first)


def compare(items: Sequence[GoldItem], judged: Sequence[Judgement | Failure]) -> dict[str, Any]:
    """Agreement overall and by slice, prevalence, and the confusion of labels (gold label -> judged label -> count).

    `judged` is in the order of `items`. Shares are in [0, 1].
    """
    pairs = [(i, j) for i, j in zip(items, judged, strict=True) if isinstance(j, Judgement)]
    report: dict[str, Any] = {"n": len(items), "unjudged": len(items) - len(pairs), **_figures(pairs)}
    report["slices"] = {
        name: {
            value: {
                "n": sum(key(item) == value for item in items),
                "unjudged": sum(key(i) == value and isinstance(j, Failure) for i, j in zip(items, judged, strict=True)),
                **_figures([pair for pair in pairs if key(pair[0]) == value]),
            }
            for value in sorted({key(item) for item in items})
        }
        for name, key in SLICES.items()
    }
    report["confusion"] = {
        gold: dict(Counter(j.label for i, j in pairs if i.label == gold))
        for gold in LABELS
        if any(i.label == gold for i, _ in pairs)
    }
    return report


def _figures(pairs: Sequence[Pair]) -> dict[str, Any]:
    return {
        "binary": _rates([i.genuine for i, _ in pairs], [j.genuine for _, j in pairs], True),
        "label": _rates([i.label for i, _ in pairs], [j.label for _, j in pairs], None),
        "specific": _rates([i.label in SPECIFIC for i, _ in pairs], [j.label in SPECIFIC for _, j in pairs], True),
    }


def _rates(gold: Sequence[Hashable], given: Sequence[Hashable], positive: bool | None) -> dict[str, Any]:
    value = kappa(gold, given)
    rates: dict[str, Any] = {"kappa": value, "agreement": percent_agreement(gold, given)}
    if value is None:
        rates["why"] = "nothing judged" if not gold else f"both raters say {gold[0]} throughout"
    if positive is not None and gold:
        rates["prevalence"] = {"gold": sum(map(bool, gold)) / len(gold), "judge": sum(map(bool, given)) / len(gold)}
    return rates


def judge_items(items: Sequence[GoldItem], judge: Judge) -> list[Judgement | Failure]:
    """What a judge says of each item, in the order of `items`, whatever the order it answers in."""
    results = {dialogue.id: result for dialogue, result in judge.judge([item.dialogue for item in items])}
    missing = Failure("judge", "no_reply", "the judge gave no result for this item")
    return [results.get(item.dialogue.id, missing) for item in items]
