"""What the figures draw, read back from their axes: points, intervals, names; and when there is nothing to draw."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from eval import plugin
from eval.dialogue import Dialogue
from eval.figures.labels import COLOURS
from eval.finished_runs import read_runs
from eval.labels import LABELS
from eval.paper.drawing import render, style
from eval.stats.rates import wilson

MakeRun = Callable[..., Path]
RowsOf = Callable[..., list[Dialogue]]
QWEN = {"model": "Qwen3.5-2B@1", "format": "qwen3_5"}


def build(name: str, *paths: Path):
    return plugin.load("eval.figures", name).build(read_runs(paths))


def texts(figure) -> list[str]:
    return [text.get_text() for axes in figure.axes for text in axes.texts]


@pytest.fixture
def sweep(make_run: MakeRun, rows_of: RowsOf) -> list[Path]:
    """Two models on IFBench at two temperatures, with GSM8K at 0 alone."""
    return [
        make_run("q0", [*rows_of("ifbench", 100, 1), *rows_of("gsm8k", 50, 0, right=30)], **QWEN),
        make_run("q1", rows_of("ifbench", 100, 20), temperature=1.0, **QWEN),
        make_run("s0", [*rows_of("ifbench", 100, 4), *rows_of("gsm8k", 50, 2, right=3)]),
        make_run("s1", rows_of("ifbench", 100, 10), temperature=1.0),
    ]


def test_temperature_has_a_panel_a_task_and_two_lines_a_model(sweep: list[Path]) -> None:
    (figure,) = build("temperature", *sweep).values()
    (axes,) = figure.axes
    assert axes.get_title(loc="left") == "IFBench, follow-up %", "GSM8K has one temperature"
    lines = {(line.get_linestyle(), tuple(line.get_ydata())) for line in axes.lines}
    assert ("-", (1.0, 20.0)) in lines and ("--", (1.0, 10.0)) in lines, "Qwen3.5-2B"
    assert ("-", (4.0, 10.0)) in lines and ("--", (2.0, 5.0)) in lines, "SmolLM2"
    assert ("None", (0.7, 21.7)) in lines, "the paper's values of Qwen3.5-2B"
    assert texts(figure) == ["Qwen3.5-2B", "SmolLM2-135M-\nInstruct"]
    assert [float(tick) for tick in axes.get_xticks()] == [0.0, 1.0]


def test_temperature_shades_the_interval_of_the_genuine_rate(sweep: list[Path]) -> None:
    (figure,) = build("temperature", *sweep).values()
    band = figure.axes[0].collections[0].get_paths()[0].vertices[:, 1]
    interval = wilson(20, 100)
    assert interval is not None
    assert any(abs(y - 100 * interval.high) < 1e-9 for y in band) and any(
        abs(y - 100 * interval.low) < 1e-9 for y in band
    )


def test_many_models_are_a_drawing_a_family(make_run: MakeRun, rows_of: RowsOf) -> None:
    paths = [
        make_run(f"{m}-{t}", rows_of("ifbench", 4, 1), temperature=t, model=f"m{m}@1", format=("glm", "harmony")[m % 2])
        for m in range(9)
        for t in (0.0, 1.0)
    ]
    assert list(build("temperature", *paths)) == ["temperature_gpt-oss", "temperature_GLM-4.7"]
    assert list(build("temperature", *paths[:16])) == ["temperature"]


def test_accuracy_stands_beside_follow_up(sweep: list[Path]) -> None:
    (figure,) = build("accuracy", *sweep).values()
    left, right = figure.axes
    assert left.get_title(loc="left") == "GSM8K", "IFBench was not graded"
    assert [label.get_text() for label in left.get_yticklabels()] == ["Qwen3.5-2B", "SmolLM2-135M-\nInstruct"]
    dots = [(line.get_xdata()[0], line.get_ydata()[0]) for line in left.lines if line.get_marker() == "o"]
    assert dots == [(60.0, 0), (6.0, 1)]
    assert [line.get_xdata()[0] for line in left.lines if line.get_marker() == "d"] == [62.2]
    follow_up = [line.get_xdata()[0] for line in right.lines if line.get_marker() == "o"]
    assert follow_up == [0.0, 0.0, 4.0, 2.0], "genuine and specific of each model"


def test_labels_stack_to_the_whole_in_a_drawing_per_setting(
    sweep: list[Path], make_run: MakeRun, rows_of: RowsOf
) -> None:
    held = make_run("held", rows_of("coval", 20, 8, held_out=True), model="other@1")
    drawings = build("labels", *sweep, held)
    assert list(drawings) == ["labels_self-generated", "labels_held-out"]
    gsm8k, ifbench = drawings["labels_self-generated"].axes
    assert [axes.get_title(loc="left") for axes in (gsm8k, ifbench)] == ["GSM8K", "IFBench"]
    for place in range(2):
        bars = [bar for bar in ifbench.patches if round(bar.get_y() + bar.get_height() / 2) == place]
        assert sum(bar.get_width() for bar in bars) == pytest.approx(100)
    (coval,) = drawings["labels_held-out"].axes
    assert [text.get_text() for text in coval.texts] == ["20", "20", "60", "n=20"]


def test_every_label_has_a_colour_of_its_own() -> None:
    assert set(COLOURS) == set(LABELS)
    assert len(set(COLOURS.values())) == len(COLOURS)


def test_a_label_that_is_not_ours_is_drawn_too(make_run: MakeRun, row_of: Callable[..., Dialogue]) -> None:
    (figure,) = build("labels", make_run("odd", [row_of("gsm8k", 0, "retired_label")])).values()
    assert "retired_label" in [text.get_text() for text in figure.texts]


@pytest.mark.parametrize("name", plugin.names("eval.figures"))
def test_equal_runs_give_equal_bytes_and_no_runs_no_figure(name: str, sweep: list[Path]) -> None:
    for (title, one), (_, again) in zip(
        build(name, *sweep).items(), build(name, *reversed(sweep)).items(), strict=True
    ):
        assert render(one) == render(again), title
    assert build(name) == {}
    assert "run" in plugin.load("eval.figures", name).NEEDS


def drawn_texts(figure) -> list:
    """Every text that a reader sees, with its place on the page."""
    found = list(figure.texts)
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            found += [tick.label1 for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]
        found += [*axes.texts, axes.xaxis.label, axes.title, axes._left_title]
    return [text for text in found if text.get_text()]


@pytest.mark.parametrize("name", plugin.names("eval.figures"))
def test_every_text_is_on_the_page_and_covers_no_other(
    name: str, sweep: list[Path], make_run: MakeRun, rows_of: RowsOf
) -> None:
    long = {"model": "An-Unusually-Long-Model-Name-70B-Chat@1", "judge": "local-2"}
    more = [
        make_run("l0", [*rows_of("ifbench", 1319, 50), *rows_of("gsm8k", 50, 1, right=50)], **long),
        make_run("l1", rows_of("ifbench", 1319, 130), temperature=1.0, **long),
    ]
    for figure in build(name, *sweep, *more).values():
        with style():
            FigureCanvasAgg(figure).draw()
        page, boxes = figure.bbox, [(text.get_text(), text.get_window_extent()) for text in drawn_texts(figure)]
        for words, box in boxes:
            assert page.x0 <= box.x0 and box.x1 <= page.x1, words
            assert page.y0 <= box.y0 and box.y1 <= page.y1, words
        for (words, box), (others, other) in combinations(boxes, 2):
            shared = min(box.x1, other.x1) - max(box.x0, other.x0), min(box.y1, other.y1) - max(box.y0, other.y0)
            assert min(shared) <= 1, f"{words!r} covers {others!r}"
