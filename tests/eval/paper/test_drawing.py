"""What all figures share: equal bytes, a style of their own, labels that do not cover each other."""

from __future__ import annotations

import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from itertools import combinations, pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.paper.drawing import COLOURS, line_height, render, spread, style, wrapped, write


def drawing(title: str = "T"):
    from matplotlib.figure import Figure

    with style():
        figure = Figure(figsize=(2, 1))
        axes = figure.add_subplot()
        axes.plot([0, 1], [0, 1])
        axes.set_title(title)
    return figure


def test_equal_figures_give_equal_bytes_also_in_another_process(tmp_path: Path) -> None:
    here = render(drawing())
    assert render(drawing()) == here
    code = (
        "import hashlib, runpy; m = runpy.run_path('" + __file__ + "'); from eval.paper.drawing import render\n"
        "print(*[hashlib.sha256(b).hexdigest() for b in render(m['drawing']()).values()])"
    )
    import hashlib

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [hashlib.sha256(content).hexdigest() for content in here.values()]


def test_both_formats_are_what_they_say_and_hold_no_date(tmp_path: Path) -> None:
    png, svg = write(drawing(), tmp_path / "name.with.dots")
    assert (png.name, svg.name) == ("name.with.dots.png", "name.with.dots.svg")
    assert png.read_bytes().startswith(b"\x89PNG")
    assert b"Software" not in png.read_bytes() and b"dc:date" not in svg.read_bytes()
    assert ElementTree.fromstring(svg.read_text()).tag.endswith("svg")


@pytest.mark.parametrize("name", ["$x_{$", "<script>alert(1)</script>", "a & b", "a\nb", "\\frac{1}", "]]>"])
def test_names_are_text_and_no_markup(name: str) -> None:
    svg = render(drawing(name))["svg"].decode()
    ElementTree.fromstring(svg)
    assert "<script" not in svg


def test_a_reader_s_own_style_changes_nothing() -> None:
    import matplotlib

    before = render(drawing())
    with matplotlib.rc_context({"font.size": 20, "axes.facecolor": "red", "svg.hashsalt": "other"}):
        assert render(drawing()) == before


@given(st.lists(st.floats(0, 100), max_size=12))
def test_labels_keep_their_order_their_distance_and_their_bounds(places: list[float]) -> None:
    moved = spread(places, 5, 0, 100)
    assert all(-1e-9 <= place <= 100 + 1e-9 for place in moved)
    assert all(b - a >= 5 - 1e-9 for a, b in pairwise(sorted(moved)))
    for i, j in combinations(range(len(places)), 2):
        assert places[i] == places[j] or (places[i] < places[j]) == (moved[i] < moved[j])


def test_labels_that_have_room_stay() -> None:
    assert spread([10, 90, 50], 5, 0, 100) == [10, 90, 50]
    assert spread([50, 51], 5, 0, 100) == [50, 55]
    assert spread([98, 99], 5, 0, 100) == [95, 100]


def test_labels_that_do_not_fit_are_spread_evenly() -> None:
    assert spread([1, 2, 3], 60, 0, 100) == pytest.approx([0, 50, 100])


def test_long_names_are_wrapped() -> None:
    assert wrapped("SmolLM2-135M-Instruct (judge local-2)") == "SmolLM2-135M-\nInstruct (judge\nlocal-2)"
    assert max(map(len, wrapped("x" * 90).splitlines())) == 17
    assert wrapped("") == "?"
    assert line_height(["a", "b"]) == 0.17 < line_height(["a", "x" * 90])


def test_colours_differ_to_the_colour_blind() -> None:
    """Viénot's simulation of deuteranopia and protanopia leaves every two colours apart in lightness or hue."""
    matrices = {
        "protanopia": ((0.11238, 0.88762, 0.0), (0.11238, 0.88762, 0.0), (0.00401, -0.00401, 1.0)),
        "deuteranopia": ((0.29275, 0.70725, 0.0), (0.29275, 0.70725, 0.0), (-0.02234, 0.02234, 1.0)),
    }
    for matrix in matrices.values():
        seen = []
        for colour in COLOURS:
            linear = [(int(colour[i : i + 2], 16) / 255) ** 2.2 for i in (1, 3, 5)]
            shifted = [sum(m * v for m, v in zip(row, linear, strict=True)) for row in matrix]
            seen.append([max(0.0, value) ** (1 / 2.2) for value in shifted])
        for one, other in combinations(seen, 2):
            assert sum((a - b) ** 2 for a, b in zip(one, other, strict=True)) ** 0.5 > 0.14


def test_importing_it_is_light() -> None:
    code = "import sys, eval.paper.drawing, eval.figures.accuracy, eval.figures.labels, eval.figures.temperature\n"
    code += "print({'matplotlib', 'numpy'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"
