"""Geometry of the small drawings next to numbers: an interval as a bar with a dot, label shares as a stacked bar.

Numbers in, coordinates in SVG user units out; colours and lines come from the style sheet.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from eval.figures.labels import COLOURS
from eval.labels import LABELS
from eval.table import Cell

WIDTH = 96
"""Width of an interval drawing."""
MARGIN = 4
"""Room for half a dot at each end."""
BAR = 1000
"""Width of a stacked bar."""
ORDER = tuple(COLOURS)
"""Labels in the order of a bar: follow-ups first, where lengths are easy to compare; unknown labels come last."""
ENDS = (1, 2, 5, 10, 20, 25, 40, 50, 75, 100)
"""Possible ends of a scale, in percent."""


@dataclass(frozen=True)
class Scale:
    """An axis from `low` to `high`, in percent or points, that includes 0."""

    low: float
    high: float

    @classmethod
    def over(cls, cells: Iterable[Cell]) -> Scale | None:
        """The scale that covers all intervals of the cells and the paper's values; None without an interval."""
        drawn = [cell for cell in cells if cell.low is not None and cell.high is not None]
        if not drawn:
            return None
        published = [cell.paper for cell in drawn if cell.paper is not None]
        low = min([0.0, *(cell.low for cell in drawn if cell.low is not None)])
        high = max([0.0, *(cell.high for cell in drawn if cell.high is not None), *published])
        if low < 0:
            end = _end(max(high, -low))
            return cls(-end, end)
        return cls(0, _end(high))

    def x(self, value: float) -> float:
        """The x coordinate of a value."""
        share = (value - self.low) / (self.high - self.low)
        return round(MARGIN + (WIDTH - 2 * MARGIN) * min(max(share, 0.0), 1.0), 1)


@dataclass(frozen=True)
class Mark:
    """The x coordinates of a point, the ends of its interval, zero and the paper's value."""

    point: float
    low: float
    high: float
    zero: float
    paper: float | None

    @classmethod
    def of(cls, cell: Cell, scale: Scale | None) -> Mark | None:
        """The drawing of a cell; None without an interval."""
        if scale is None or cell.value is None or cell.low is None or cell.high is None:
            return None
        paper = None if cell.paper is None else scale.x(cell.paper)
        return cls(scale.x(cell.value), scale.x(cell.low), scale.x(cell.high), scale.x(0), paper)


@dataclass(frozen=True)
class Segment:
    """One label's part of a stacked bar."""

    label: str
    place: int | None
    count: int
    percent: float
    x: float
    width: float


def segments(counts: Mapping[str, int]) -> list[Segment]:
    """The stacked bar of all judged user turns; labels without a count are left out."""
    total = sum(counts.values())
    bar, x = [], 0.0
    for label in (*ORDER, *sorted(counts.keys() - set(ORDER))):
        count = counts.get(label, 0)
        if count:
            width = BAR * count / total
            bar.append(Segment(label, place_of(label), count, 100 * count / total, round(x, 2), round(width, 2)))
            x += width
    return bar


def place_of(label: str) -> int | None:
    """Index of a label in `LABELS`, which determines its colour; None for an unknown label."""
    return list(LABELS).index(label) if label in LABELS else None


def _end(value: float) -> float:
    return float(next((end for end in ENDS if value <= end), 100))
