"""Which rows of a panel stand in each slice of Table 7 (arXiv 2604.02315), where judges are compared with each other.

The paper names its slices and doesn't say how they were drawn. Ours, exactly; "yes" is a judge's binary, genuine:

- *full panel*: every row.
- *random*: a quarter of the rows, as in the paper (1,965 of 7,815), drawn apart from those that the first rater calls
  yes and no, so that the slice keeps their shares: prevalence-preserving.
- *balanced*: hard cases. Judges split mostly on rows that one of them calls yes, and these are rare. So the slice has
  all rows of the first rater's rarer answer, and as many of the other, drawn at random: half yes, half no. That comes
  near the paper: if nano calls 30 % of its full panel genuine and mini 12 %, as its other numbers suggest, they would
  agree on about 70 % of such a slice at a kappa of 0.40; it prints 72.8 % and 0.373, which a slice with 40 % yes gives.
- *split*: the hardest, the rows that the judges split on: not all of them give the same binary. With two judges, these
  agree on none of them by definition; with three, it tells who sides with whom.

Draws are by a hash of the row's id: they depend neither on the order of the rows nor on chance.
"""

from __future__ import annotations

from collections.abc import Sequence

from eval.dialogue import content_hash

RANDOM_SHARE = 0.25


def random_slice(ids: Sequence[str], yes: Sequence[bool]) -> list[bool]:
    """Whether each of N rows is in the random slice, by its id and the first rater's binary."""
    return _drawn(ids, yes, round(RANDOM_SHARE * sum(yes)), round(RANDOM_SHARE * (len(yes) - sum(yes))))


def balanced_slice(ids: Sequence[str], yes: Sequence[bool]) -> list[bool]:
    """Whether each of N rows is in the balanced slice; no row is where the first rater gives one answer throughout."""
    rarer = min(sum(yes), len(yes) - sum(yes))
    return _drawn(ids, yes, rarer, rarer)


def split_slice(binaries: Sequence[Sequence[bool | None]]) -> list[bool]:
    """Whether each of N rows is one that the judges split on; (judges, N) binaries, None where a judge gave none."""
    return [{True, False} <= set(row) for row in zip(*binaries, strict=True)]


def _drawn(ids: Sequence[str], yes: Sequence[bool], of_yes: int, of_no: int) -> list[bool]:
    """The first rows of each answer in the order of a hash of their ids."""
    order = sorted(range(len(ids)), key=lambda place: (content_hash(["panel slice", ids[place]]), place))
    chosen = [place for place in order if yes[place]][:of_yes] + [place for place in order if not yes[place]][:of_no]
    flags = [False] * len(ids)
    for place in chosen:
        flags[place] = True
    return flags
