"""Agreement between raters: Cohen's kappa, percent agreement, prevalence, precision, recall, overall and by slice.

Cohen's kappa is the main figure, because a judge that always says no agrees with most labels if most are no. Unjudged
items are counted, and left out of every other figure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any

from eval.dialogue import Failure, Judgement
from eval.gold import GoldItem
from eval.judge import Judge
from eval.labels import LABELS, SPECIFIC
from eval.panel_slices import balanced_slice, random_slice
from eval.stats.kappa_interval import kappa_interval
from eval.stats.rates import Rate

Pair = tuple[GoldItem, Judgement]
Rated = tuple[GoldItem, Judgement | Failure]

SLICES: dict[str, Callable[[GoldItem], str]] = {
    "task": lambda item: item.dialogue.task,
    "source": lambda item: item.source,
    "temperature": lambda item: "none" if item.temperature is None else str(item.temperature),
    "label": lambda item: item.label,
}


def kappa(first: Sequence[Hashable], second: Sequence[Hashable]) -> float | None:
    """Cohen's kappa (1960) of two raters, in [-1, 1].

    None if it is undefined: no items, or both raters give the same class to every item. If only one rater is constant,
    kappa is 0.

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

    `judged` is in the order of `items`. Shares are in [0, 1]. "random" and "balanced" are slices of
    `eval/panel_slices.py`, drawn by the gold binary. Each kappa has a bootstrap interval over contexts.
    """
    rated = list(zip(items, judged, strict=True))
    report = _slice(rated)
    report["slices"] = {
        name: {
            value: _slice([one for one in rated if key(one[0]) == value])
            for value in sorted({key(item) for item in items})
        }
        for name, key in SLICES.items()
    }
    report["slices"]["drawn"] = {name: _slice(chosen) for name, chosen in _drawn_slices(rated)}
    pairs = _judged_pairs(rated)
    report["labels"] = {
        label: _detection([i.label == label for i, _ in pairs], [j.label == label for _, j in pairs])
        for label in LABELS
        if any(label in (i.label, j.label) for i, j in pairs)
    }
    report["confusion"] = {
        gold: dict(Counter(j.label for i, j in pairs if i.label == gold))
        for gold in LABELS
        if any(i.label == gold for i, _ in pairs)
    }
    return report


def _judged_pairs(rated: Sequence[Rated]) -> list[Pair]:
    return [(item, result) for item, result in rated if isinstance(result, Judgement)]


def _drawn_slices(rated: Sequence[Rated]) -> Iterator[tuple[str, list[Rated]]]:
    ids, yes = [item.dialogue.id for item, _ in rated], [item.genuine for item, _ in rated]
    for name, draw in (("random", random_slice), ("balanced", balanced_slice)):
        yield name, [one for one, chosen in zip(rated, draw(ids, yes), strict=True) if chosen]


def _slice(rated: Sequence[Rated]) -> dict[str, Any]:
    pairs = _judged_pairs(rated)
    contexts = [item.context for item, _ in pairs]
    return {
        "n": len(rated),
        "unjudged": len(rated) - len(pairs),
        "binary": _yes_or_no([i.genuine for i, _ in pairs], [j.genuine for _, j in pairs], contexts),
        "label": _rates([i.label for i, _ in pairs], [j.label for _, j in pairs], contexts),
        "specific": _yes_or_no(
            [i.label in SPECIFIC for i, _ in pairs], [j.label in SPECIFIC for _, j in pairs], contexts
        ),
    }


def _yes_or_no(gold: Sequence[bool], given: Sequence[bool], contexts: Sequence[str]) -> dict[str, Any]:
    rates = _rates(gold, given, contexts)
    if gold:
        rates["prevalence"] = {"gold": sum(gold) / len(gold), "judge": sum(given) / len(gold)}
        rates |= _detection(gold, given)
    return rates


def _rates(gold: Sequence[Hashable], given: Sequence[Hashable], contexts: Sequence[str]) -> dict[str, Any]:
    value = kappa(gold, given)
    rates: dict[str, Any] = {"kappa": value, "agreement": percent_agreement(gold, given)}
    if value is None:
        rates["why"] = "nothing judged" if not gold else f"both raters always say {gold[0]}"
    else:
        interval = kappa_interval(gold, given, contexts)
        rates["kappa_interval"] = [interval.low, interval.high] if interval else None
    return rates


def _detection(gold: Sequence[bool], given: Sequence[bool]) -> dict[str, Any]:
    """Counts, precision and recall of one class; None if the denominator is zero."""
    both = sum(a and b for a, b in zip(gold, given, strict=True))
    return {
        "gold": sum(gold),
        "judge": sum(given),
        "precision": Rate(both, sum(given)).point,
        "recall": Rate(both, sum(gold)).point,
    }


def judge_items(items: Sequence[GoldItem], judge: Judge) -> list[Judgement | Failure]:
    """The judge's result for each item, in the order of `items`."""
    results = {dialogue.id: result for dialogue, result in judge.judge([item.dialogue for item in items])}
    missing = Failure("judge", "no_reply", "the judge gave no result for this item")
    return [results.get(item.dialogue.id, missing) for item in items]
