"""The slices of Table 7 (arXiv 2604.02315), on which judges are compared with each other.

The paper names its slices without saying how they were drawn. The definitions used here, where "yes" means that a judge
calls the row genuine:

- *full panel*: every row.
- *random*: a quarter of the rows, as in the paper (1,965 of 7,815), stratified by the first rater's binary, so that it
  preserves the prevalence.
- *balanced*: hard cases. Judges disagree mostly on rows that one of them calls yes, and these are rare. So the slice
  has all rows with the first rater's rarer answer and as many random ones with the other: half yes, half no. This is
  close to the paper: if nano calls 30 % of its full panel genuine and mini 12 %, as its other numbers suggest, they
  would agree on about 70 % of such a slice at a kappa of 0.40; it prints 72.8 % and 0.373, as a slice with 40 % yes
  would give.
- *split*: the hardest cases, the rows on which the judges' binaries differ. Two judges agree on none of them by
  definition; with three, it shows which judges agree.

Rows are chosen by a hash of their id, so the slices depend neither on the order of the rows nor on a seed.
"""

from __future__ import annotations

from collections.abc import Sequence

from eval.dialogue import content_hash

RANDOM_SHARE = 0.25


def random_slice(ids: Sequence[str], yes: Sequence[bool]) -> list[bool]:
    """Whether each of N rows is in the random slice, given its id and the first rater's binary."""
    return _first_of_each(ids, yes, round(RANDOM_SHARE * sum(yes)), round(RANDOM_SHARE * (len(yes) - sum(yes))))


def balanced_slice(ids: Sequence[str], yes: Sequence[bool]) -> list[bool]:
    """Whether each of N rows is in the balanced slice, which is empty if the first rater gives only one answer."""
    rarer = min(sum(yes), len(yes) - sum(yes))
    return _first_of_each(ids, yes, rarer, rarer)


def split_slice(binaries: Sequence[Sequence[bool | None]]) -> list[bool]:
    """Whether the judges differ on each of N rows; `binaries` is (judges, N), None where a judge gave none."""
    return [{True, False} <= set(row) for row in zip(*binaries, strict=True)]


def _first_of_each(ids: Sequence[str], yes: Sequence[bool], of_yes: int, of_no: int) -> list[bool]:
    """Whether each row is among the first `of_yes` or `of_no` of its answer, ordered by a hash of the id."""
    order = sorted(range(len(ids)), key=lambda place: (content_hash(["panel slice", ids[place]]), place))
    chosen = [place for place in order if yes[place]][:of_yes] + [place for place in order if not yes[place]][:of_no]
    flags = [False] * len(ids)
    for place in chosen:
        flags[place] = True
    return flags
