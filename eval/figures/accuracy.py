"""Figure 3: accuracy next to follow-up rates, one pair of panels per task, one line per model.

Runs in, drawings out. Source: arXiv 2604.02315, Figure 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from eval.finished_runs import Run
from eval.paper.drawing import COLOURS, INK, WIDTH, caption, line_height, style, wrapped
from eval.paper.lineup import Group, Lineup, by_family, line_up, select
from eval.paper.model_table import MEASURES, subject, summary_of, tasks_of
from eval.paper.published import read_paper
from eval.summary import Setting, TaskSummary

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NEEDS = "unperturbed runs at temperature 0 with a graded task"
HEAD, GAP = 0.55, 0.6
"""Heights in inches: above the panels, and between tasks."""
CAPTION = (
    "dot: accuracy, or genuine follow-up, with its 95 % interval\nring: specific follow-up · diamond: the paper's value"
)


def build(runs: Sequence[Run]) -> dict[str, Figure]:
    """One drawing of all graded tasks."""
    greedy, _ = select(runs, temperature=0.0)
    lineup = line_up(greedy)
    graded = [(task, setting) for task, setting in tasks_of(lineup) if _measured(lineup, task, setting, graded=True)]
    if not graded:
        return {}
    from matplotlib.figure import Figure

    colours = {
        run.model: COLOURS[place % len(COLOURS)]
        for place, members in enumerate(by_family(greedy).values())
        for run in members
    }
    with style():
        line = line_height(group.name for group in lineup.groups)
        heights = [line * len(_measured(lineup, task, setting)) for task, setting in graded]
        height = HEAD + sum(heights) + GAP * len(graded)
        figure = Figure(figsize=(WIDTH, height))
        caption(figure, CAPTION)
        top = height - HEAD
        for (task, setting), tall in zip(graded, heights, strict=True):
            sides = [figure.add_axes((left, (top - tall) / height, 0.28, tall / height)) for left in (0.33, 0.68)]
            _pair(sides, _measured(lineup, task, setting), task, setting, colours)
            top -= tall + GAP
    return {"accuracy": figure}


def _measured(
    lineup: Lineup, task: str, setting: Setting | None, graded: bool = False
) -> list[tuple[Group, TaskSummary]]:
    found = [(group, summary_of(group.first.summaries, task, setting)) for group in lineup.groups]
    return [(group, s) for group, s in found if s is not None and (s.accuracy.n or not graded)]


def _pair(
    sides: Sequence[Axes],
    measured: Sequence[tuple[Group, TaskSummary]],
    task: str,
    setting: Setting | None,
    colours: dict[str, str],
) -> None:
    """Accuracy on the left, follow-up on the right, the models' names on the far left."""
    for axes, measure in zip(sides, ("accuracy", "genuine"), strict=True):
        axes.set_ylim(len(measured) - 0.5, -0.5)
        axes.grid(axis="x")
        axes.spines["left"].set_visible(False)
        axes.tick_params(axis="y", length=0)
        axes.set_xlabel({"accuracy": "accuracy %", "genuine": "follow-up %"}[measure])
        for place, (group, summary) in enumerate(measured):
            colour = colours[group.first.model]
            _dot(axes, summary, measure, place, colour)
            if measure == "genuine":
                _ring(axes, summary, place, colour)
            _diamond(axes, group.first.model, task, setting, measure, place)
    left, right = sides
    left.set_yticks(range(len(measured)), [wrapped(group.name) for group, _ in measured])
    right.set_yticks([])
    left.set_xlim(-4, 104)
    widest = max(right.get_xlim()[1], 5)
    right.set_xlim(-0.06 * widest, widest)
    left.set_title(subject(task, setting))


def _dot(axes: Axes, summary: TaskSummary, measure: str, place: int, colour: str) -> None:
    rate = MEASURES[measure](summary)
    interval = rate.interval()
    if rate.point is not None and interval is not None:
        axes.plot([100 * interval.low, 100 * interval.high], [place, place], color=colour, linewidth=1.2)
        axes.plot([100 * rate.point], [place], color=colour, marker="o", markersize=3)


def _ring(axes: Axes, summary: TaskSummary, place: int, colour: str) -> None:
    if summary.specific.point is not None:
        axes.plot(
            [100 * summary.specific.point],
            [place],
            color=colour,
            marker="o",
            markersize=6,
            markeredgewidth=0.8,
            markerfacecolor="none",
            linestyle="",
        )


def _diamond(axes: Axes, model: str, task: str, setting: Setting | None, measure: str, place: int) -> None:
    """The value of the paper's Table 3, or of its Table 5 if that has none."""
    column = {"task": task, "measure": measure, "temperature": 0.0}
    values = [read_paper().value(table, model, **column) for table in ("table3", "table5")]
    known = next((value for value in values if value is not None), None)
    if known is not None and setting == "self-generated":
        axes.plot([known], [place], color=INK, marker="d", markersize=4, markerfacecolor="none", markeredgewidth=0.7)
