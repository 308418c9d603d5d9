"""What a run will take: hours, tokens and dollars, in a line. Who knows the work knows how much of it there is."""

from __future__ import annotations

from dataclasses import dataclass

from eval.checks.finding import Finding, passed, warned

LONG = 24.0
"""Hours that are worth a second thought."""


@dataclass(frozen=True)
class Estimate:
    """An upper bound where it says so; None where something is not known."""

    hours: float | None
    tokens: int
    dollars: float | None
    basis: str
    """What the hours are reckoned from."""

    def finding(self) -> Finding:
        """A line; a warning where hours or dollars are not known, or many."""
        hours = "hours unknown" if self.hours is None else f"{self.hours:,.2f} h"
        dollars = "dollars unknown" if self.dollars is None else f"${self.dollars:,.2f} at most"
        told = f"{hours}, {self.tokens:,} tokens, {dollars} ({self.basis})"
        if self.dollars is None:
            return warned(
                told, "the judge or teacher has no price: watch the bill, or add it to eval/client/prices.yaml"
            )
        if self.hours is not None and self.hours > LONG:
            return warned(told, "more than a day: ask for that time, or take fewer rows or steps")
        return passed(told)
