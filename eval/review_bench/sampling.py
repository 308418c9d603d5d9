"""Samples the items to review, in random order by a seed: `all`, `random:N` or `balanced:N`.

`random` keeps the prevalence of the distinct turns. `balanced` draws equally from the turns that the stored judges call
genuine, those that they call not genuine and, with several judges, the hard cases on whose binary the judges differ. If
one group is too small, the others fill up. It knows no text.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from eval.config import ConfigError
from eval.review_bench.items import ReviewItem

GENUINE, NOT_GENUINE, SPLIT = "genuine", "not genuine", "split"


@dataclass(frozen=True)
class Sample:
    """How a sample is drawn."""

    kind: str
    size: int | None
    """None for all items."""

    @classmethod
    def parse(cls, text: str) -> Sample:
        """From "all", "random:N" or "balanced:N".

        Raises:
            ConfigError: the text has another form.
        """
        if text == "all":
            return cls("all", None)
        found = re.fullmatch(r"(random|balanced):([1-9][0-9]{0,8})", text)
        if not found:
            raise ConfigError(f"{text!r} is not a valid sample; write random:N, balanced:N or all")
        return cls(found[1], int(found[2]))

    def __str__(self) -> str:
        return self.kind if self.size is None else f"{self.kind}:{self.size}"


def draw(items: Sequence[ReviewItem], sample: Sample, seed: int) -> list[ReviewItem]:
    """The items of the sample in shuffled order, each with its weight, regardless of the order of `items`.

    The sample is smaller than requested if there are not enough items.

    Raises:
        ConfigError: there is no item to draw from.
    """
    generator = random.Random(seed)
    groups = _groups(sorted(items, key=lambda item: item.dialogue.id), sample)
    if not groups:
        raise ConfigError(f"nothing to review: no user turn in these runs for the sample {sample}")
    sizes = [len(group) for group in groups]
    drawn: list[ReviewItem] = []
    for group, share in zip(groups, _shares(sizes, sum(sizes) if sample.size is None else sample.size), strict=True):
        drawn += [replace(item, weight=len(group) / share) for item in generator.sample(group, share)]
    generator.shuffle(drawn)
    return drawn


def decision(item: ReviewItem) -> str | None:
    """The joint decision of the stored judges: GENUINE, NOT_GENUINE or SPLIT; None if none has judged the item."""
    binaries = {judgement.genuine for judgement in item.judgements}
    if len(binaries) > 1:
        return SPLIT
    return None if not binaries else GENUINE if binaries.pop() else NOT_GENUINE


def _groups(items: Sequence[ReviewItem], sample: Sample) -> list[list[ReviewItem]]:
    """The non-empty groups to draw from in equal parts."""
    if sample.kind != "balanced":
        return [list(items)] if items else []
    groups = ([item for item in items if decision(item) == which] for which in (GENUINE, NOT_GENUINE, SPLIT))
    return [group for group in groups if group]


def _shares(sizes: Sequence[int], total: int) -> list[int]:
    """`total` divided as equally as possible, with no share above its size."""
    shares = [0] * len(sizes)
    order = sorted(range(len(sizes)), key=sizes.__getitem__)
    for done, place in enumerate(order):
        shares[place] = min(sizes[place], total // (len(order) - done))
        total -= shares[place]
    return shares
