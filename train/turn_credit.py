"""Turn-level credit: the advantage of each reward within the episodes of a prompt, and the turn whose tokens get it.

Rewards are compared within a group, the episodes of one prompt, and each reward on its own (arXiv 2402.03300, eq. 3.2,
has one reward). With credit `turn`, an advantage goes to the tokens of the turn that earned it; with `episode`, to all
sampled tokens. Pure functions of numbers: knows no model and no trainer.
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
"""Added to a standard deviation, as in TRL."""


def advantages(rewards: Sequence[Rewards], group: int, scale: Scale) -> list[dict[str, float]]:
    """For each episode and reward, the difference from the group's mean, in standard deviations.

    An episode with any unknown reward is excluded: its advantages are 0, and it counts in no mean and no standard
    deviation. All advantages are 0 in a group with fewer than two known episodes.

    Args:
        rewards: one mapping per episode, in the order of the groups.
        group: episodes per group.
        scale: the standard deviation to divide by: the group's, that of all episodes in the batch, or none.

    Raises:
        ValueError: the number of episodes is not a multiple of `group`.
    """
    if group < 1 or len(rewards) % group:
        raise ValueError(f"{len(rewards)} episodes cannot be divided into groups of {group}")
    known = [index for index, row in enumerate(rewards) if None not in row.values()]
    result = [dict.fromkeys(row, 0.0) for row in rewards]
    for name in rewards[0] if rewards else ():
        value = {index: float(rewards[index][name] or 0.0) for index in known}
        batch_deviation = _deviation(list(value.values()))
        for start in range(0, len(rewards), group):
            members = [index for index in known if start <= index < start + group]
            if len(members) < 2:
                continue
            values = [value[index] for index in members]
            mean = statistics.fmean(values)
            by = {"group": _deviation(values) + SOFTENING, "batch": batch_deviation + SOFTENING, "none": 1.0}[scale]
            for index in members:
                result[index][name] = (value[index] - mean) / by
    return result


def by_turn(
    by_reward: Mapping[str, float],
    weights: Mapping[str, float],
    turns: Mapping[str, Role],
    credit: Literal["turn", "episode"],
) -> dict[Role, float]:
    """For each role, the weighted sum of an episode's advantages that its turn's tokens get.

    Args:
        by_reward: the episode's advantage for each reward.
        turns: the role whose turn each reward is for.
    """
    credited: dict[Role, float] = {"assistant": 0.0, "user": 0.0}
    for name, advantage in by_reward.items():
        for role in credited if credit == "episode" else (turns[name],):
            credited[role] += weights[name] * advantage
    return credited


def _deviation(values: Sequence[float]) -> float:
    """The sample standard deviation, with n - 1 in the denominator; 0 for a single value."""
    return statistics.stdev(values) if len(values) > 1 else 0.0
