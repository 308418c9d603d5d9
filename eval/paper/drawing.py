"""Style and output of figures: one column wide, colour-blind safe, equal bytes for equal runs.

It knows no measure: `eval/figures/` decides what is drawn.
"""

from __future__ import annotations

import io
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTH = 3.4
"""Inches: a column of a two-column page, so that font sizes in points hold in print."""
INK, MUTED, GRID = "#1a1a1a", "#6b6b6b", "#e4e4e4"
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#882255")
"""Okabe and Ito's palette without its yellow, which is invisible on white paper, plus Tol's wine."""
STYLE: dict[str, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 7,
    "axes.titlesize": 8,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 7,
    "axes.edgecolor": MUTED,
    "axes.linewidth": 0.6,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "text.color": INK,
    "text.parse_math": False,  # a dollar sign in a model's name is literal
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.labelsize": 7,
    "ytick.labelsize": 6.5,
    "xtick.major.size": 2,
    "ytick.major.size": 2,
    "svg.hashsalt": "eval.paper.drawing",
    "svg.fonttype": "path",
}


@contextmanager
def style() -> Iterator[None]:
    """Draw in the project's style, regardless of the user's matplotlib settings."""
    from matplotlib.style import context

    with context(["default", STYLE]):
        yield


def render(figure: Figure) -> dict[str, bytes]:
    """The figure as "png" (300 dots per inch) and "svg"; equal figures give equal bytes."""
    rendered = {}
    for ending, metadata in (("png", {"Software": None}), ("svg", {"Date": None, "Creator": None})):
        out = io.BytesIO()
        with style():
            figure.savefig(out, format=ending, dpi=300, metadata=metadata)
        rendered[ending] = out.getvalue()
    return rendered


def caption(figure: Figure, text: str) -> None:
    """Small print at the top of a figure that explains its marks. Call within `style()`."""
    figure.text(0.02, 1 - 0.08 / figure.get_figheight(), text, va="top", fontsize=6, color=MUTED, linespacing=1.3)


def write(figure: Figure, path: Path) -> list[Path]:
    """Write the figure to `path` with .png and .svg appended; returns both paths."""
    written = []
    for ending, content in render(figure).items():
        target = path.with_name(f"{path.name}.{ending}")
        target.write_bytes(content)
        written.append(target)
    return written


def wrapped(name: str) -> str:
    """A name wrapped to the third of a column reserved for names."""
    return textwrap.fill(name, 17) or "?"


def line_height(names: Iterable[str]) -> float:
    """Inches from one wrapped name to the next so that none overlap."""
    return max([0.17, *(0.05 + 0.11 * len(wrapped(name).splitlines()) for name in names)])


def spread(places: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Positions close to `places`, at least `gap` apart, between `low` and `high`, in the same order.

    If they do not all fit, they are spread evenly.
    """
    order = sorted(range(len(places)), key=lambda i: places[i])
    if gap * (len(places) - 1) > high - low:
        gap = (high - low) / (len(places) - 1)
    moved = list(places)
    floor = low
    for i in order:
        moved[i] = max(moved[i], floor)
        floor = moved[i] + gap
    ceiling = high
    for i in reversed(order):
        moved[i] = min(moved[i], ceiling)
        ceiling = moved[i] - gap
    return moved
