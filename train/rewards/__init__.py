"""Rewards, one file each: `TURN`, whose tokens it credits, and `reward(dialogue, **options) -> float or None`.

The dialogue is graded and judged. None means unknown: the episode is then excluded from its group, whatever its other
rewards are.
"""
