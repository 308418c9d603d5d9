"""Progress of a sweep: a live table of its cells in a terminal, plain lines in a log."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from eval import progress
from eval.stats.rates import Rate
from eval.summary import TaskSummary

if TYPE_CHECKING:
    from rich.console import Console
    from rich.live import Live
    from rich.table import Table


@dataclass
class _Line:
    """The displayed state of one cell."""

    state: str = "waiting"
    genuine: str = ""
    specific: str = ""


class Board:
    """Shows the cells by name; `running` returns the progress display for a cell's probe, `done` shows its rates."""

    def __init__(self, names: Sequence[str], console: Console | None = None) -> None:
        from rich.console import Console

        self._console = console or Console(stderr=True, force_terminal=None if sys.stderr.isatty() else False)
        self._lines = {name: _Line() for name in names}
        self._live: Live | None = None

    @contextmanager
    def shown(self) -> Iterator[Board]:
        """Show the live table while the block runs, if there is a terminal."""
        from rich.live import Live

        if not self._console.is_terminal or self._console.is_dumb_terminal:
            yield self
            return
        with Live(self._table(), console=self._console, refresh_per_second=4) as self._live:
            yield self

    def running(self, name: str) -> progress.Progress:
        """The progress display for the stages of cell `name`."""
        if self._live is None:
            print(f"cell {name}", file=self._console.file, flush=True)
            return progress.shown

        def display(
            title: str, total: int, done: int = 0, *, note: Callable[[], str] = lambda: ""
        ) -> AbstractContextManager[progress.Advance]:
            return self._stage(self._lines[name], title, total, done, note)

        return display

    def done(self, name: str, summaries: Sequence[TaskSummary]) -> None:
        """Show the rates of a finished cell per task."""
        line = self._lines[name]
        line.state = "done"
        line.genuine = _rates(summaries, lambda summary: summary.genuine)
        line.specific = _rates(summaries, lambda summary: summary.specific)
        self._show()
        if self._live is None:
            print(f"cell {name}: genuine {line.genuine}; specific {line.specific}", file=self._console.file, flush=True)

    @contextmanager
    def _stage(
        self, line: _Line, title: str, total: int, done: int, note: Callable[[], str]
    ) -> Iterator[progress.Advance]:
        count = done

        def show() -> None:
            line.state = ", ".join(filter(None, [f"{title} {count}/{total}", note()]))
            self._show()

        def advance() -> None:
            nonlocal count
            count += 1
            show()

        show()
        yield advance

    def _show(self) -> None:
        if self._live is not None:
            self._live.update(self._table())

    def _table(self) -> Table:
        from rich.table import Table
        from rich.text import Text

        table = Table("cell", "state", "genuine %", "specific %")
        for name, line in self._lines.items():
            style = {"done": "green", "waiting": "dim"}.get(line.state, "bold")
            table.add_row(*(Text(text, style) for text in (name, line.state, line.genuine, line.specific)))
        return table


def _rates(summaries: Sequence[TaskSummary], rate: Callable[[TaskSummary], Rate]) -> str:
    points = {summary.task: rate(summary).point for summary in summaries}
    return ", ".join(f"{task} {'-' if point is None else f'{100 * point:.1f}'}" for task, point in points.items())
