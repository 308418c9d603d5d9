"""The option with the best mean rank over rankings with ties, such as "A>B>C=D", best first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def best_ranked(rankings: Iterable[str], options: Sequence[str]) -> str | None:
    """The option with the lowest mean rank, the first one if several tie; options tied in a ranking share a mean rank.

    Rankings that do not contain each option exactly once are ignored. None if no ranking is left.
    """
    ranks = [found for ranking in rankings if (found := _ranks(ranking)).keys() == set(options)]
    if not ranks or not options:
        return None
    return min(options, key=lambda option: sum(found[option] for found in ranks))


def _ranks(ranking: str) -> dict[str, float]:
    """Rank of each option, 1 for the best; empty if an option is named twice."""
    groups = [[option.strip() for option in group.split("=")] for group in ranking.split(">")]
    ranks: dict[str, float] = {}
    above = 0
    for group in groups:
        ranks |= dict.fromkeys(group, above + (len(group) + 1) / 2)
        above += len(group)
    return ranks if len(ranks) == above else {}
