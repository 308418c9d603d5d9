"""The drawings of `eval/figures/` for the page, each as one image with a data URL.

Their text is drawn as outlines, so that no parser sees names in them as text.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from eval import plugin
from eval.finished_runs import Run
from eval.paper import drawing as figure

DRAWN_BY_THE_PAGE = "labels"
"""A figure of `eval/figures/` that the page draws itself, for all runs."""
PIXELS_PER_INCH = 150
"""Large, because a drawing is made for a paper column with text of 7 points."""


@dataclass(frozen=True)
class Drawing:
    """One image with its caption and its display width in pixels."""

    source: str
    caption: str
    width: int


def drawings(runs: Sequence[Run]) -> Iterator[Drawing]:
    """The figures that these runs fill."""
    for name in plugin.names("eval.figures"):
        if name == DRAWN_BY_THE_PAGE:
            continue
        module = plugin.load("eval.figures", name)
        caption = (module.__doc__ or name).splitlines()[0]
        for drawn in module.build(runs).values():
            svg = base64.b64encode(figure.render(drawn)["svg"]).decode()
            width = round(PIXELS_PER_INCH * drawn.get_figwidth())
            yield Drawing(f"data:image/svg+xml;base64,{svg}", caption, width)
