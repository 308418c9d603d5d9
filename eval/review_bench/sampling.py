"""Which items are reviewed, and in which order: `all`, `random:N` or `balanced:N`, by a seed.

`random` keeps the prevalence of the distinct turns. `balanced` draws alike from the turns that the stored judges call
genuine, from those that they do not, and, with several judges, from the hard cases: turns on whose binary decision two
judges differ. What one of these groups lacks, the others give. Knows no text.
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
    """None: all."""

    @classmethod
    def parse(cls, text: str) -> Sample:
        """From "all", "random:N" or "balanced:N".

        Raises:
            ConfigError: it is none of these.
        """
        if text == "all":
            return cls("all", None)
        found = re.fullmatch(r"(random|balanced):([1-9][0-9]{0,8})", text)
        if not found:
            raise ConfigError(f"a sample is random:N, balanced:N or all, not {text!r}")
        return cls(found[1], int(found[2]))

    def __str__(self) -> str:
        return self.kind if self.size is None else f"{self.kind}:{self.size}"


def draw(items: Sequence[ReviewItem], sample: Sample, seed: int) -> list[ReviewItem]:
    """The items of the sample in a shuffled order, each with its weight; the order of `items` does not matter.

    There are fewer than asked for where there are no more.

    Raises:
        ConfigError: there is nothing to draw from.
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
    """What the stored judges make of an item, together: GENUINE, NOT_GENUINE, SPLIT, or None if none has judged it."""
    said = {judgement.genuine for judgement in item.judgements}
    if len(said) > 1:
        return SPLIT
    return None if not said else GENUINE if said.pop() else NOT_GENUINE


def _groups(items: Sequence[ReviewItem], sample: Sample) -> list[list[ReviewItem]]:
    """The groups to draw from in equal parts; none is empty."""
    if sample.kind != "balanced":
        return [list(items)] if items else []
    groups = ([item for item in items if decision(item) == which] for which in (GENUINE, NOT_GENUINE, SPLIT))
    return [group for group in groups if group]


def _shares(sizes: Sequence[int], total: int) -> list[int]:
    """`total` in parts as equal as can be, none above its size."""
    shares = [0] * len(sizes)
    order = sorted(range(len(sizes)), key=sizes.__getitem__)
    for done, place in enumerate(order):
        shares[place] = min(sizes[place], total // (len(order) - done))
        total -= shares[place]
    return shares
