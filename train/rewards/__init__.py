"""Rewards, one file each: `TURN`, whose tokens it credits, and `reward(dialogue, **options) -> float or None`.

A dialogue comes graded and judged. None is unknown: the episode is then left out of its group, whatever its other
rewards are.
"""
