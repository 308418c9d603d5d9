"""The estimate of a run in one line: hours, tokens and dollars. Callers know the work and compute them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from eval.checks.finding import Finding, passed, warned

LONG = 24.0
"""An estimate of more hours is a warning."""


@dataclass(frozen=True)
class Estimate:
    """What a run takes; None if unknown."""

    hours: float | None
    tokens: int
    dollars: float | None
    """An upper bound."""
    basis: str
    """How the hours are calculated, or why they are not known."""
    left_out: tuple[str, ...] = ()
    """Work that the hours do not include, such as "probes"."""

    def finding(self) -> Finding:
        """The estimate in a line; a warning if hours or dollars are unknown, or hours exceed `LONG`."""
        dollars = "dollars unknown" if self.dollars is None else f"${self.dollars:,.2f} at most"
        told = f"{self._hours()}, {self.tokens:,} tokens, {dollars} ({self.basis})"
        advice = list(self._advice())
        return warned(told, "; ".join(advice)) if advice else passed(told)

    def _hours(self) -> str:
        if self.hours is None:
            return "hours unknown"
        *others, last = self.left_out or ("",)
        without = f"{', '.join(others)} and {last}" if others else last
        return f"{self.hours:,.2f} h" + (f" without {without}" if without else "")

    def _advice(self) -> Iterator[str]:
        if self.dollars is None:
            yield "the judge or teacher has no price: watch the bill, or add it to eval/client/prices.yaml"
        if self.hours is None:
            yield "hours are unknown: ask for more time than you expect; an unfinished run resumes"
        elif self.hours > LONG:
            yield "more than a day: ask for that time, or take fewer rows or steps"
