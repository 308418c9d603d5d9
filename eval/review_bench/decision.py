"""What one reviewer has decided on one item: a label and a binary, each given by itself."""

from __future__ import annotations

from dataclasses import dataclass

from eval.labels import ALWAYS_GENUINE, NEVER_GENUINE


@dataclass(frozen=True)
class Decision:
    """What one reviewer has decided on one item so far."""

    label: str | None = None
    genuine: bool | None = None
    seconds: float | None = None
    """Time that the item was before the reviewer until its last decision; None where it was not measured."""

    @property
    def complete(self) -> bool:
        """Whether both are decided."""
        return self.label is not None and self.genuine is not None

    @property
    def contradictory(self) -> bool:
        """Whether the label's definition (`eval/labels.py`) fixes the binary to the other value."""
        fixed = {True: NEVER_GENUINE, False: ALWAYS_GENUINE}
        return self.complete and self.label in fixed[bool(self.genuine)]
