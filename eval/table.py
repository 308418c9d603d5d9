"""A table: a title, columns, rows of cells, notes. A cell has a display text and the numbers it was made from.

It knows no measure: `eval/tables/` fills the cells, `eval/table_formats.py` writes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from eval.stats.rates import Interval, Rate

UNKNOWN = "—"
DIGITS = 4
"""Decimals of exported numbers: enough for any n here, and coarser than differences between math libraries."""


@dataclass(frozen=True)
class Cell:
    """A display text and the numbers it was made from. An unknown value is None and displayed as "—"."""

    text: str
    value: float | None = None
    """A count, a mean, a rate in percent, or a unitless figure such as kappa."""
    low: float | None = None
    high: float | None = None
    """Ends of the 95 % interval, in the same unit."""
    successes: int | None = None
    n: int | None = None
    total: int | None = None
    """All rows, with a known outcome or not."""
    paper: float | None = None
    """The paper's value, in the same unit."""
    link: str | None = None
    """Relative URL of its evidence, for markdown and HTML."""

    @classmethod
    def number(cls, value: float | None, digits: int = 0) -> Cell:
        """A count or a mean, shown with `digits` decimals."""
        return cls(UNKNOWN) if value is None else cls(f"{value:.{digits}f}", value=round(value, DIGITS))

    @classmethod
    def rate(cls, rate: Rate, with_n: bool = False, total: int | None = None) -> Cell:
        """A rate in percent with its 95 % Wilson interval, "62.9 [60.3, 65.5]", and its n if `with_n`.

        If `total` is larger than n, because some rows have no known outcome, both are shown: "n=297/300".
        """
        cell = cls.estimate(rate.point, rate.interval(), rate.n)
        counted = f" n={rate.n}" if total in (None, rate.n) else f" n={rate.n}/{total}"
        text = cell.text.removesuffix(f" n={rate.n}") + (counted if with_n else "")
        return replace(cell, text=text, successes=rate.successes, total=total)

    @classmethod
    def estimate(cls, point: float | None, interval: Interval | None, n: int) -> Cell:
        """A proportion or difference in percent with its interval, either of which may be unknown, and its n."""
        if point is None:
            return cls(f"{UNKNOWN} n={n}", n=n)
        value = 100 * point
        if interval is None:
            return cls(f"{value:.1f} [{UNKNOWN}] n={n}", round(value, DIGITS), n=n)
        low, high = 100 * interval.low, 100 * interval.high
        text = f"{value:.1f} [{low:.1f}, {high:.1f}] n={n}"
        return cls(text, round(value, DIGITS), round(low, DIGITS), round(high, DIGITS), n=n)

    @classmethod
    def p_value(cls, p: float | None) -> Cell:
        """The p-value of a test."""
        if p is None:
            return cls(UNKNOWN)
        return cls("<0.001" if p < 0.001 else f"{p:.3f}", value=float(f"{p:.4g}"))

    def beside(self, paper: float | None) -> Cell:
        """This cell followed by the paper's value, "1.0 [0.3, 2.9] (0.7)"."""
        return replace(self, text=f"{self.text} ({UNKNOWN if paper is None else paper})", paper=paper)

    @classmethod
    def share(cls, rate: Rate) -> Cell:
        """A count with its share in percent, "12 (24.0 %)"."""
        if rate.point is None:
            return cls(UNKNOWN, successes=rate.successes, n=rate.n)
        percent = 100 * rate.point
        return cls(f"{rate.successes} ({percent:.1f} %)", round(percent, DIGITS), successes=rate.successes, n=rate.n)


@dataclass(frozen=True)
class Table:
    """Rows of cells under column headings; the first cell of a row is its name."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for row in self.rows:
            assert len(row) == len(self.columns), f"{self.title}: {len(row)} cells under {len(self.columns)} columns"


def each_note_once(tables: Sequence[Table]) -> list[Table]:
    """The tables with each note that several share kept only under the last of them."""
    later = [{note for other in tables[place + 1 :] for note in other.notes} for place in range(len(tables))]
    return [
        replace(one, notes=tuple(note for note in one.notes if note not in repeated))
        for one, repeated in zip(tables, later, strict=True)
    ]
