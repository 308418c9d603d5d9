"""The geometry of drawings, and the colours of labels."""

from __future__ import annotations

import pytest

from eval.figures.labels import COLOURS
from eval.labels import LABELS
from eval.report_page.marks import BAR, MARGIN, ORDER, WIDTH, Mark, Scale, segments
from eval.report_page.page import FOLDER
from eval.stats.rates import Rate
from eval.table import Cell


def test_an_interval_is_drawn_on_the_scale_of_its_column() -> None:
    cells = [Cell.rate(Rate(1, 10)), Cell.rate(Rate(4, 10)).beside(80.0), Cell.rate(Rate(0, 0)), Cell("x")]
    scale = Scale.over(cells)
    assert scale == Scale(0, 100)
    mark = Mark.of(cells[1], scale)
    assert mark and mark.low < mark.point < mark.high < mark.paper and mark.zero == MARGIN
    assert mark.point == pytest.approx(MARGIN + 0.4 * (WIDTH - 2 * MARGIN))
    assert [Mark.of(cell, scale) for cell in cells[2:]] == [None, None]
    assert Scale.over(cells[2:]) is None


def test_a_difference_has_zero_in_the_middle() -> None:
    scale = Scale.over([Cell("-3", -3.0, -8.0, 2.0)])
    assert scale == Scale(-10, 10) and scale.x(0) == WIDTH / 2


def test_a_bar_is_whole_and_a_strange_label_stands_last() -> None:
    parts = segments({"zzz": 1, "genuine_followup": 2, "other": 1, "meta_planning": 0})
    assert [(part.label, part.count, part.percent) for part in parts] == [
        ("genuine_followup", 2, 50.0),
        ("other", 1, 25.0),
        ("zzz", 1, 25.0),
    ]
    assert [part.x for part in parts] == [0, 500, 750] and parts[-1].x + parts[-1].width == BAR
    assert parts[-1].place is None and parts[0].place == list(LABELS).index("genuine_followup")
    assert segments({}) == []


def test_every_label_has_its_colour_in_the_style() -> None:
    assert set(ORDER) == set(LABELS)
    style = (FOLDER / "page.css").read_text(encoding="utf-8")
    light = style[: style.index("@media")]
    for place, label in enumerate(LABELS):
        if label != "other":
            assert f"--l{place}: {COLOURS[label]};" in light, label
        assert f".label-{place}" in style
