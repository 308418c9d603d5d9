"""Turn-level credit: what a reward is worth among the episodes of its prompt, and whose tokens that is for.

Rewards are compared within a group, the episodes of one prompt, each reward on its own (arXiv 2402.03300, eq. 3.2, has
one reward). With `turn`, an advantage is for the tokens of the turn that earned it; with `episode`, for all. Plain
numbers in and out: it knows no model and no trainer.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Literal

from eval.dialogue import Role

Scale = Literal["group", "batch", "none"]
Rewards = Mapping[str, float | None]
"""By the reward's name; None: unknown."""

SOFTENING = 1e-4
"""Added to a standard deviation, as TRL adds it."""


def advantages(rewards: Sequence[Rewards], group: int, scale: Scale) -> list[dict[str, float]]:
    """For each episode and reward, how far it is above the mean of its group, in standard deviations.

    An episode with any unknown reward is not in its group: its advantages are 0, and it bears on no mean and no
    deviation. Nor is there anything to compare in a group of one.

    Args:
        rewards: of episodes in the order of their groups.
        group: episodes of a group.
        scale: which standard deviation divides: of the group, of all groups together, or none.

    Raises:
        ValueError: the episodes are no whole groups.
    """
    if group < 1 or len(rewards) % group:
        raise ValueError(f"{len(rewards)} episodes are no whole groups of {group}")
    known = [place for place, row in enumerate(rewards) if None not in row.values()]
    found = [dict.fromkeys(row, 0.0) for row in rewards]
    for name in rewards[0] if rewards else ():
        value = {place: float(rewards[place][name] or 0.0) for place in known}
        everywhere = _deviation(list(value.values()))
        for start in range(0, len(rewards), group):
            places = [place for place in known if start <= place < start + group]
            if len(places) < 2:
                continue
            values = [value[place] for place in places]
            mean = statistics.fmean(values)
            by = {"group": _deviation(values) + SOFTENING, "batch": everywhere + SOFTENING, "none": 1.0}[scale]
            for place in places:
                found[place][name] = (value[place] - mean) / by
    return found


def by_turn(
    found: Mapping[str, float],
    weights: Mapping[str, float],
    turns: Mapping[str, Role],
    credit: Literal["turn", "episode"],
) -> dict[Role, float]:
    """The weighted sum of an episode's advantages that the tokens of each turn get.

    Args:
        turns: whose turn each reward is for.
    """
    credited: dict[Role, float] = {"assistant": 0.0, "user": 0.0}
    for name, advantage in found.items():
        for role in credited if credit == "episode" else (turns[name],):
            credited[role] += weights[name] * advantage
    return credited


def _deviation(values: Sequence[float]) -> float:
    """Of a sample, with n - 1 below; 0 for a single value."""
    return statistics.stdev(values) if len(values) > 1 else 0.0
