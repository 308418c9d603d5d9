"""One reviewer's decision on one item: a label and a binary, given separately."""

from __future__ import annotations

from dataclasses import dataclass

from eval.labels import ALWAYS_GENUINE, NEVER_GENUINE


@dataclass(frozen=True)
class Decision:
    """One reviewer's decision on one item so far."""

    label: str | None = None
    genuine: bool | None = None
    seconds: float | None = None
    """Time for which the item was displayed until its last decision; None if not measured."""

    @property
    def complete(self) -> bool:
        """Whether both label and binary are decided."""
        return self.label is not None and self.genuine is not None

    @property
    def contradictory(self) -> bool:
        """Whether the label's definition (`eval/labels.py`) fixes the binary to the other value."""
        fixed = {True: NEVER_GENUINE, False: ALWAYS_GENUINE}
        return self.complete and self.label in fixed[bool(self.genuine)]
