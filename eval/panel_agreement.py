"""Agreement between judges on a panel of user turns, for each slice of Table 7 (arXiv 2604.02315).

It knows judges only by their ids and results. The slices are defined in `eval/panel_slices.py`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from eval.dialogue import Failure, Judgement
from eval.panel_slices import balanced_slice, random_slice, split_slice
from eval.rater_agreement import kappa
from eval.stats.clustered import clustered_interval
from eval.stats.kappa_interval import kappa_interval
from eval.stats.rates import Interval, Rate

FULL, RANDOM, BALANCED, SPLIT = "full panel", "random", "balanced", "split"


@dataclass(frozen=True)
class RatedPanel:
    """N user turns with each judge's results; slices are drawn by the decisions of the first judge."""

    ids: tuple[str, ...]
    contexts: tuple[str, ...]
    results: Mapping[str, tuple[Judgement | Failure, ...]]
    """By judge id, each of length N."""


@dataclass(frozen=True)
class Agreement:
    """The agreement of two judges on the label or the binary."""

    rate: Rate
    """Rows on which they agree, among those judged by both."""
    interval: Interval | None
    """95 % bootstrap interval of the rate over contexts."""
    kappa: float | None
    """Cohen's kappa; None if it is undefined (no rows, or the same answer to every row)."""
    kappa_interval: Interval | None


@dataclass(frozen=True)
class PairAgreement:
    """The agreement of two judges on one slice."""

    slice: str
    judges: tuple[str, str]
    total: int
    """All rows of the slice."""
    yes: tuple[Rate, Rate]
    """Each judge's rate of genuine among the rows judged by both."""
    genuine: Agreement
    label: Agreement

    @property
    def n(self) -> int:
        """Rows judged by both."""
        return self.genuine.rate.n


def compare_judges(panel: RatedPanel) -> list[PairAgreement]:
    """Every pair of judges on every slice, slice by slice.

    *split* needs three or more judges, because two agree on no row of it.
    """
    return [
        _pair(panel, name, inside, first, second)
        for name, inside in _slices(panel)
        for first, second in combinations(panel.results, 2)
    ]


def split_count(panel: RatedPanel) -> int:
    """The number of rows in the slice *split*."""
    return sum(split_slice(_binaries(panel)))


def _binaries(panel: RatedPanel) -> list[list[bool | None]]:
    return [
        [result.genuine if isinstance(result, Judgement) else None for result in results]
        for results in panel.results.values()
    ]


def _slices(panel: RatedPanel) -> Iterator[tuple[str, list[int]]]:
    """Each slice with the places of its rows; the drawn slices leave out rows that the first judge has not judged."""
    binaries = _binaries(panel)
    judged = [place for place, yes in enumerate(binaries[0]) if yes is not None]
    ids, yes = [panel.ids[place] for place in judged], [bool(binaries[0][place]) for place in judged]
    yield FULL, list(range(len(panel.ids)))
    for name, draw in ((RANDOM, random_slice), (BALANCED, balanced_slice)):
        yield name, [place for place, inside in zip(judged, draw(ids, yes), strict=True) if inside]
    if len(binaries) > 2:
        yield SPLIT, [place for place, inside in enumerate(split_slice(binaries)) if inside]


def _pair(panel: RatedPanel, name: str, places: Sequence[int], first: str, second: str) -> PairAgreement:
    rated: list[tuple[Judgement, Judgement, str]] = []
    for place in places:
        one, other = panel.results[first][place], panel.results[second][place]
        if isinstance(one, Judgement) and isinstance(other, Judgement):
            rated.append((one, other, panel.contexts[place]))
    contexts = [context for _, _, context in rated]
    yes = [[judgement.genuine for judgement in given] for given in (_column(rated, 0), _column(rated, 1))]
    labels = [[judgement.label for judgement in given] for given in (_column(rated, 0), _column(rated, 1))]
    return PairAgreement(
        slice=name,
        judges=(first, second),
        total=len(places),
        yes=(Rate(sum(yes[0]), len(rated)), Rate(sum(yes[1]), len(rated))),
        genuine=_agreement(yes[0], yes[1], contexts),
        label=_agreement(labels[0], labels[1], contexts),
    )


def _column(rated: Sequence[tuple[Judgement, Judgement, str]], place: int) -> list[Judgement]:
    return [(one, other)[place] for one, other, _ in rated]


def _agreement(first: Sequence[Hashable], second: Sequence[Hashable], contexts: Sequence[str]) -> Agreement:
    places = {context: place for place, context in enumerate(dict.fromkeys(contexts))}
    hits, trials = [0] * len(places), [0] * len(places)
    for one, other, context in zip(first, second, contexts, strict=True):
        hits[places[context]] += one == other
        trials[places[context]] += 1
    return Agreement(
        rate=Rate(sum(hits), len(first)),
        interval=clustered_interval([hits], [trials]) if first else None,
        kappa=kappa(first, second),
        kappa_interval=kappa_interval(first, second, contexts),
    )
