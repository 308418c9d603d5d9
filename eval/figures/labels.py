"""Label shares as stacked bars, one bar per model, one panel per task: how user turns fail.

Runs in, drawings out. The measure of arXiv 2604.02315, Table 6, per model and task.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from eval.finished_runs import Run
from eval.paper.drawing import MUTED, WIDTH, caption, line_height, style, wrapped
from eval.paper.lineup import Group, line_up, select
from eval.paper.model_table import subject, summary_of, tasks_of
from eval.summary import TaskSummary

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NEEDS = "unperturbed runs at temperature 0"
GAP, KEY, FOOT = 0.36, 0.15, 0.1
"""Heights in inches: between panels, of a line of the key, and below the last bar."""
COLOURS = {
    "genuine_followup": "#08519c",
    "generic_followup": "#4292c6",
    "acknowledgement": "#9ecae1",
    "new_task_prompt": "#117733",
    "previous_turn_restate": "#ddcc77",
    "assistant_turn_restate": "#cc6677",
    "assistant_continuation": "#882255",
    "meta_planning": "#aa4499",
    "degenerate_short": "#bbbbbb",
    "malformed_artifact": "#555555",
    "other": "#eeeeee",
}
"""Follow-ups in blues, a new task in green, copies in warm hues, debris in greys; after Tol's muted palette."""
LEAST = 0.07
"""Smallest share whose segment is wide enough for its number."""


def build(runs: Sequence[Run]) -> dict[str, Figure]:
    """One drawing per setting with all of its tasks."""
    greedy, _ = select(runs, temperature=0.0)
    lineup = line_up(greedy)
    drawings: dict[str, list[tuple[str, list[tuple[Group, TaskSummary]]]]] = {}
    for task, setting in tasks_of(lineup):
        found = [(group, summary_of(group.first.summaries, task, setting)) for group in lineup.groups]
        bars = [(group, summary) for group, summary in found if summary is not None and summary.judged]
        if bars:
            drawings.setdefault(f"labels_{setting or 'unknown'}", []).append((subject(task, setting), bars))
    return {name: _draw(panels) for name, panels in drawings.items()}


def _draw(panels: Sequence[tuple[str, Sequence[tuple[Group, TaskSummary]]]]) -> Figure:
    from matplotlib.figure import Figure

    given = {label for _, bars in panels for _, summary in bars for label in summary.labels}
    labels = [*(label for label in COLOURS if label in given), *sorted(given - COLOURS.keys())]
    head = 0.3 + KEY * ((len(labels) + 1) // 2)
    line = line_height(group.name for _, bars in panels for group, _ in bars)
    heights = [line * len(bars) for _, bars in panels]
    height = head + sum(heights) + GAP * len(panels) + FOOT
    with style():
        figure = Figure(figsize=(WIDTH, height))
        caption(figure, "share of the judged user turns with each label, %")
        _key(figure, labels, height)
        top = height - head - 0.25
        for (title, bars), tall in zip(panels, heights, strict=True):
            axes = figure.add_axes((0.33, (top - tall) / height, 0.66, tall / height))
            axes.set_title(title)
            _bars(axes, bars, labels)
            top -= tall + GAP
        axes.set_xticks([0, 50, 100])
    return figure


def _key(figure: Figure, labels: Sequence[str], height: float) -> None:
    from matplotlib.patches import Rectangle

    half = (len(labels) + 1) // 2
    for place, label in enumerate(labels):
        left, down = (0.02, place) if place < half else (0.52, place - half)
        y = 1 - (0.32 + KEY * down) / height
        box = Rectangle((left, y - 0.04 / height), 0.03, 0.08 / height, color=_colour(label), linewidth=0)
        figure.add_artist(box)
        figure.text(left + 0.045, y, label, va="center", fontsize=6.5)


def _bars(axes: Axes, bars: Sequence[tuple[Group, TaskSummary]], labels: Sequence[str]) -> None:
    for place, (_, summary) in enumerate(bars):
        left = 0.0
        for label in labels:
            share = summary.labels.get(label, 0) / summary.judged
            axes.barh(
                place, 100 * share, left=left, height=0.72, color=_colour(label), edgecolor="white", linewidth=0.4
            )
            if share >= LEAST:
                axes.text(
                    left + 50 * share,
                    place,
                    f"{100 * share:.0f}",
                    ha="center",
                    va="center",
                    fontsize=6,
                    color=_ink(label),
                )
            left += 100 * share
        axes.text(101, place, f"n={summary.judged}", va="center", fontsize=5.5, color=MUTED)
    axes.set_ylim(len(bars) - 0.5, -0.5)
    axes.set_xlim(0, 116)
    axes.set_xticks([])
    axes.set_yticks(range(len(bars)), [wrapped(group.name) for group, _ in bars])
    axes.tick_params(axis="y", length=0)
    for side in ("left", "bottom"):
        axes.spines[side].set_visible(False)


def _colour(label: str) -> str:
    return COLOURS.get(label, COLOURS["other"])


def _ink(label: str) -> str:
    """White on dark colours, black on light ones."""
    red, green, blue = (int(_colour(label)[i : i + 2], 16) for i in (1, 3, 5))
    return "white" if 0.299 * red + 0.587 * green + 0.114 * blue < 140 else "black"
