"""Reports as a parser sees them, and text that tries to be more than text."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from eval.dialogue import Dialogue
from eval.report import report

HOSTILE = (
    "</script><script>window.ran = 1</script>",
    "<img src=x onerror=alert(1)>",
    "javascript:alert(1) <a href='javascript:alert(1)'>x</a>",
    "<!-- ]]> {{ 7 * 7 }} {% raw %} &lt; & \" '",
    "\u202eevil\u202c \u2066x\u2069 \u2028 \u2029 \x00 \x1b[31m \x7f \x9b \ufeff \u200b \ud800 \U000e0041",
)
MakeRun = Callable[..., Path]


class Page(HTMLParser):
    """A page as a parser sees it: its elements with attributes, and the text inside each script and style."""

    def __init__(self, path: Path) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.raw: list[tuple[dict[str, str | None], str]] = []
        self.text = ""
        self._inside = False
        self.source = path.read_bytes().decode("utf-8")
        self.feed(self.source)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self.text += " "
        self._inside = tag in ("script", "style")
        if self._inside:
            self.raw.append((dict(attrs), ""))

    def handle_endtag(self, tag: str) -> None:
        self.text += " "
        self._inside = False

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.raw[-1] = (self.raw[-1][0], self.raw[-1][1] + data)
        else:
            self.text += data

    def json(self, id: str) -> Any:
        return next(json.loads(text) for attributes, text in self.raw if attributes.get("id") == id)


@pytest.fixture
def read_page() -> type[Page]:
    """A path -> the page in that file."""
    return Page


@pytest.fixture
def page_of(make_run: MakeRun) -> Callable[..., Page]:
    """A run of the given rows -> its report."""

    def make(rows: list[Dialogue], *others: Path, name: str = "run", allow: bool = False, **fields: Any) -> Page:
        return Page(report([make_run(name, rows, **fields), *others], allow_gated_text=allow))

    return make


@pytest.fixture
def hostile() -> tuple[str, ...]:
    """Texts that try to be more than text."""
    return HOSTILE


@pytest.fixture
def says() -> Callable[[Dialogue, str], Dialogue]:
    """(row, text) -> the row with `text` as its answer, its user turn, its reasoning and its judge's reply."""

    def says(row: Dialogue, text: str) -> Dialogue:
        query, answer, turn = row.messages
        assert row.judgement
        messages = (query, replace(answer, text=text, reasoning=text), replace(turn, text=text))
        return replace(row, messages=messages, judgement=replace(row.judgement, reply=text))

    return says
