"""Lexical diversity of the user turns of a data set, computed from their text alone.

distinct-n: arXiv 1510.03055. Overlap with the nearest neighbour tells filled-in templates from varied questions.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from data_gen.near_duplicates import word_trigrams
from eval.turn_variety import skeleton, words_of


@dataclass(frozen=True)
class Diversity:
    """Diversity measures of a list of turns; a share or mean over no items is None."""

    turns: int
    distinct_1: float | None
    """Distinct words over all words; `distinct_2` and `distinct_3` are the same for bigrams and trigrams."""
    distinct_2: float | None
    distinct_3: float | None
    different_turns: float | None
    """Share of distinct turns after removing numbers and names."""
    nearest_mean: float | None
    """Jaccard similarity of word trigrams with the most similar other turn: mean; `nearest_p90`: 90th percentile."""
    nearest_p90: float | None
    words_mean: float | None
    words_p90: float | None
    template_bits: float | None
    """Entropy of the scripted teacher's phrasings; `template_evenness` is entropy over its maximum, in [0, 1]."""
    template_evenness: float | None


def measure(turns: Sequence[str], phrasings: Sequence[str] = ()) -> Diversity:
    """The diversity of `turns`; `phrasings` are the names of the templates they were filled from, if any."""
    words = [words_of(turn) for turn in turns]
    nearest = nearest_overlaps(turns)
    lengths = [float(len(turn.split())) for turn in turns]
    bits, evenness = entropy(Counter(phrasings))
    return Diversity(
        len(turns),
        distinct(words, 1),
        distinct(words, 2),
        distinct(words, 3),
        _share(len({skeleton(turn) for turn in turns}), len(turns)),
        _mean(nearest),
        percentile(nearest, 0.9),
        _mean(lengths),
        percentile(lengths, 0.9),
        bits,
        evenness,
    )


def distinct(texts: Iterable[Sequence[str]], size: int) -> float | None:
    """Distinct word n-grams of length `size` over all of them."""
    grams = [tuple(words[start : start + size]) for words in texts for start in range(len(words) - size + 1)]
    return _share(len(set(grams)), len(grams))


def nearest_overlaps(turns: Sequence[str]) -> list[float]:
    """For each turn, the largest Jaccard similarity of its word trigrams with another turn's, in [0, 1]."""
    grams = [word_trigrams([turn]) for turn in turns]
    holders: dict[str, list[int]] = {}
    for turn, own in enumerate(grams):
        for gram in own:
            holders.setdefault(gram, []).append(turn)
    nearest = []
    for turn, own in enumerate(grams):
        shared = Counter(other for gram in own for other in holders[gram])
        del shared[turn]
        nearest.append(max((n / (len(own) + len(grams[other]) - n) for other, n in shared.items()), default=0.0))
    return nearest


def entropy(counts: Mapping[str, int]) -> tuple[float | None, float | None]:
    """Entropy of `counts` in bits, and the same normalized by its maximum for that number of kinds."""
    total = sum(counts.values())
    if not total:
        return None, None
    bits = sum(count / total * math.log2(total / count) for count in counts.values())
    return bits, min(1.0, bits / math.log2(len(counts))) if len(counts) > 1 else 0.0


def percentile(values: Sequence[float], share: float) -> float | None:
    """Nearest-rank percentile: the smallest value with at least `share` of the values at or below it."""
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)] if values else None


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
