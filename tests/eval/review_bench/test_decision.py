"""Decisions: complete, or contradictory by the labels' own definitions."""

from __future__ import annotations

from eval.labels import ALWAYS_GENUINE, LABELS, NEVER_GENUINE
from eval.review_bench.decision import Decision


def test_a_contradiction_is_one_by_the_definitions_of_the_labels() -> None:
    for label in LABELS:
        assert Decision(label, False).contradictory == (label in ALWAYS_GENUINE)
        assert Decision(label, True).contradictory == (label in NEVER_GENUINE)
        assert not Decision(label, None).contradictory and not Decision(label, None).complete
