"""Figures 1 (right) and 4: follow-up rates by sampling temperature, one line per model, one panel per task.

Runs in, drawings out. Source: arXiv 2604.02315, Figures 1 and 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle
from typing import TYPE_CHECKING

from eval.finished_runs import Run
from eval.paper.drawing import COLOURS, WIDTH, caption, line_height, spread, style, wrapped
from eval.paper.lineup import Group, Lineup, by_family, line_up, select
from eval.paper.model_table import subject, summary_of, tasks_of, temperatures_of
from eval.paper.published import read_paper
from eval.stats.rates import Rate
from eval.summary import Setting

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NEEDS = "unperturbed runs that share a task at two temperatures or more"
PLOT, GAP, HEAD, FOOT = 1.28, 0.42, 0.2, 0.32
"""Heights in inches: the axes at least, between axes, the caption, the axis label."""
CAPTION = "solid: genuine, 95 % interval shaded · dashed: specific · ring: the paper's value"


def build(runs: Sequence[Run]) -> dict[str, Figure]:
    """One drawing of all models, or one per family if there are more models than colours."""
    unperturbed, _ = select(runs)
    lineup = line_up(unperturbed, "sampling.temperature")
    if len(lineup.groups) <= len(COLOURS):
        drawings = {"temperature": _draw(lineup)}
    else:
        drawings = {
            f"temperature_{family}": _draw(line_up(members, "sampling.temperature"))
            for family, members in by_family(unperturbed).items()
        }
    return {name: drawing for name, drawing in drawings.items() if drawing is not None}


def _draw(lineup: Lineup) -> Figure | None:
    tasks = [(task, setting) for task, setting in tasks_of(lineup) if len(temperatures_of(lineup, task, setting)) > 1]
    if not tasks:
        return None
    from matplotlib.figure import Figure

    with style():
        names = line_height(group.name for group in lineup.groups)
        plot = max(PLOT, names * len(lineup.groups))
        height = HEAD + len(tasks) * (plot + GAP) + FOOT
        figure = Figure(figsize=(WIDTH, height))
        caption(figure, CAPTION)
        for place, (task, setting) in enumerate(tasks):
            bottom = FOOT + (len(tasks) - 1 - place) * (plot + GAP)
            axes = figure.add_axes((0.1, (bottom + 0.1) / height, 0.55, plot / height))
            _panel(axes, lineup, task, setting, names / plot)
        axes.set_xlabel("sampling temperature of the user turn")
    return figure


def _panel(axes: Axes, lineup: Lineup, task: str, setting: Setting | None, name_height: float) -> None:
    """Draw one task; `name_height` is the height of a name as a share of the axes."""
    from matplotlib.ticker import MaxNLocator

    temperatures = temperatures_of(lineup, task, setting)
    axes.set_title(f"{subject(task, setting)}, follow-up %")
    axes.set_xticks(temperatures, [f"{temperature:g}" for temperature in temperatures])
    axes.grid(axis="y")
    axes.yaxis.set_major_locator(MaxNLocator(5, integer=True, steps=[1, 2, 5, 10]))
    ends: list[tuple[float, float, str, str]] = []
    for group, colour in zip(lineup.groups, cycle(COLOURS), strict=False):
        last = _line(axes, group, task, setting, colour)
        if last is not None:
            ends.append((*last, group.name, colour))
    axes.set_xlim(temperatures[0] - 0.03, temperatures[-1] + 0.03)
    axes.set_ylim(0, max(axes.get_ylim()[1], 5))
    _label(axes, ends, name_height)


def _line(axes: Axes, group: Group, task: str, setting: Setting | None, colour: str) -> tuple[float, float] | None:
    """Draw one model; returns the last point of its line of genuine rates."""
    found = [(t, summary_of(run.summaries, task, setting)) for t, run in sorted(group.runs.items())]
    genuine = [(t, summary.genuine) for t, summary in found if summary is not None and summary.judged]
    specific = [(t, summary.specific) for t, summary in found if summary is not None and summary.judged]
    if not genuine:
        return None
    at = [t for t, _ in genuine]
    ranges = [rate.interval() for _, rate in genuine]
    axes.fill_between(
        at,
        [100 * r.low for r in ranges if r],
        [100 * r.high for r in ranges if r],
        color=colour,
        alpha=0.1,
        linewidth=0,
    )
    axes.plot(at, _percent(genuine), color=colour, linewidth=1.3, marker="o", markersize=2.5)
    axes.plot(at, _percent(specific), color=colour, linewidth=0.9, linestyle=(0, (3, 2)))
    if setting == "self-generated":
        _draw_paper(axes, group.first.model, task, at, colour)
    return at[-1], _percent(genuine)[-1]


def _percent(rates: Sequence[tuple[float, Rate]]) -> list[float]:
    return [100 * rate.successes / rate.n for _, rate in rates]


def _draw_paper(axes: Axes, model: str, task: str, temperatures: Sequence[float], colour: str) -> None:
    values = [read_paper().value("table4", model, task=task, measure="genuine", temperature=t) for t in temperatures]
    known = [(t, value) for t, value in zip(temperatures, values, strict=True) if value is not None]
    axes.plot(
        [t for t, _ in known],
        [value for _, value in known],
        color=colour,
        marker="o",
        markersize=4.5,
        markerfacecolor="none",
        linestyle="",
        clip_on=False,
    )


def _label(axes: Axes, ends: Sequence[tuple[float, float, str, str]], name_height: float) -> None:
    """Name each line at its right end; a thin leader connects a name that had to move."""
    low, high = axes.get_ylim()
    left, right = axes.get_xlim()
    places = spread([y for _, y, _, _ in ends], 0.9 * name_height * (high - low), low, high)
    for (x, y, name, colour), place in zip(ends, places, strict=True):
        lead = [x + 0.03 * (right - left), right + 0.1 * (right - left)]
        axes.plot(lead, [y, place], color=colour, alpha=0.45, linewidth=0.6, clip_on=False)
        axes.text(lead[1] + 0.02 * (right - left), place, wrapped(name), va="center", color=colour, fontsize=6.5)
    axes.set_ylim(low, high)
    axes.set_xlim(left, right)
