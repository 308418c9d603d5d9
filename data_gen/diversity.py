"""How varied the user turns of a data set are, from the words of the turns alone. It knows no file and no teacher.

distinct-n: arXiv 1510.03055. Overlap with the nearest neighbour tells a set of templates from a set of questions.
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
    """Measures of a list of turns; a share or a mean of nothing is None."""

    turns: int
    distinct_1: float | None
    """Different words over all words; `distinct_2` and `distinct_3` the same of runs of two and three."""
    distinct_2: float | None
    distinct_3: float | None
    different_turns: float | None
    """Share of different turns, numbers and names taken out."""
    nearest_mean: float | None
    """Jaccard similarity of word trigrams with the most similar other turn: mean, and below the 90th percentile."""
    nearest_p90: float | None
    words_mean: float | None
    words_p90: float | None
    template_bits: float | None
    """Entropy of the phrasings that a scripted teacher names; `template_evenness` is its share of the largest."""
    template_evenness: float | None


def measure(turns: Sequence[str], phrasings: Sequence[str] = ()) -> Diversity:
    """The diversity of `turns`; `phrasings` are the names of the templates that they come from, if any do."""
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
    """Different runs of `size` words over all such runs."""
    grams = [tuple(words[start : start + size]) for words in texts for start in range(len(words) - size + 1)]
    return _share(len(set(grams)), len(grams))


def nearest_overlaps(turns: Sequence[str]) -> list[float]:
    """For each turn the largest Jaccard similarity of its word trigrams with another turn's, in [0, 1]."""
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
    """Bits of the distribution of `counts`, and their share of the most that as many kinds can have."""
    total = sum(counts.values())
    if not total:
        return None, None
    bits = sum(count / total * math.log2(total / count) for count in counts.values())
    return bits, min(1.0, bits / math.log2(len(counts))) if len(counts) > 1 else 0.0


def percentile(values: Sequence[float], share: float) -> float | None:
    """The value below or at which `share` of the values lie (nearest rank)."""
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)] if values else None


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
