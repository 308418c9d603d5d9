"""Progress of a long stage: a live bar in a terminal, a plain line every few seconds in a log, or nothing.

A stage takes a `Progress` and calls the yielded function once per finished row. The display never affects the result.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import timedelta
from typing import IO, TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Task

Advance = Callable[[], None]
"""To be called once per finished row."""


def _empty() -> str:
    return ""


class Progress(Protocol):
    """Opens the display of one stage: its title, how many rows it has, and how many were done by an earlier run.

    `note` is asked for what is shown after the counts, such as a loss, whenever these are displayed.
    """

    def __call__(
        self, title: str, total: int, done: int = 0, *, note: Callable[[], str] = _empty
    ) -> AbstractContextManager[Advance]: ...


@contextmanager
def silent(title: str, total: int, done: int = 0, *, note: Callable[[], str] = _empty) -> Iterator[Advance]:
    """Display nothing."""
    yield lambda: None


@contextmanager
def shown(
    title: str,
    total: int,
    done: int = 0,
    console: Console | None = None,
    unit: str = "rows",
    note: Callable[[], str] = _empty,
) -> Iterator[Advance]:
    """Display on standard error: a bar in a terminal; plain lines without control codes in a pipe, file or batch job.

    Rate and remaining time exclude the `done` rows of an earlier run.

    Args:
        unit: what is counted.
        note: as in `Progress`.
    """
    from rich.console import Console

    # An environment variable such as FORCE_COLOR must not put control codes into a log file.
    console = console or Console(stderr=True, force_terminal=None if sys.stderr.isatty() else False)
    terminal = console.is_terminal and not console.is_dumb_terminal
    live = bar(title, total, done, console, unit, note)
    with live if terminal else lines(title, total, done, console.file, unit=unit, note=note) as advance:
        yield advance


@contextmanager
def bar(
    title: str, total: int, done: int, console: Console, unit: str = "rows", note: Callable[[], str] = _empty
) -> Iterator[Advance]:
    """A live bar with finished rows, rows per second, the remaining time, and the note."""
    from rich.progress import BarColumn, MofNCompleteColumn, ProgressColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Live
    from rich.text import Text

    class Speed(ProgressColumn):
        """Recent rows per second."""

        def render(self, task: Task) -> Text:
            return Text("" if task.speed is None else f"{_rate(task.speed)} {unit}/s")

    class Note(ProgressColumn):
        """The caller's note."""

        def render(self, task: Task) -> Text:
            return Text(note())

    columns = (BarColumn(), MofNCompleteColumn(), Speed(), TimeRemainingColumn(), Note())
    with Live(TextColumn("{task.description}", markup=False), *columns, console=console) as live:
        stage = live.add_task(title, total=total, completed=done)
        yield lambda: live.advance(stage)


@contextmanager
def lines(
    title: str,
    total: int,
    done: int,
    file: IO[str],
    every: float = 5.0,
    clock: Callable[[], float] = time.monotonic,
    unit: str = "rows",
    note: Callable[[], str] = _empty,
) -> Iterator[Advance]:
    """A plain line at the start, at most one per `every` seconds as rows finish, and one at the end or on an error."""
    start = last_line = clock()
    finished = 0

    def print_line() -> None:
        seconds = clock() - start
        rate = finished / seconds if seconds > 0 else 0.0
        left = total - done - finished
        speed = f", {_rate(rate)} {unit}/s, {timedelta(seconds=round(left / rate))} left" if rate else ""
        print(
            ", ".join(filter(None, [f"{title}: {done + finished}/{total} {unit}{speed}", note()])),
            file=file,
            flush=True,
        )

    def advance() -> None:
        nonlocal finished, last_line
        finished += 1
        if clock() - last_line >= every:
            last_line = clock()
            print_line()

    print_line()
    try:
        yield advance
    finally:
        if done < total:
            print_line()


def _rate(per_second: float) -> str:
    return f"{per_second:.1f}" if per_second >= 1 else f"{per_second:.2f}"
