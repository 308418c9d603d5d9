"""Measures where a process spends its time: wall-clock seconds by activity, each counted once.

    with spent("load"): ...            within another one, its time is not counted for the outer one
    for row in each("judge", rows):    the time that the iterator takes for the next item, not that of the loop's body

Only the thread that imports this module first is timed. Knows no run and no engine.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import get_ident
from typing import TypeVar

T = TypeVar("T")
REST = "bookkeeping"
"""The name of the time outside of all other activities."""


class Clock:
    """Adds up seconds by name; an inner activity pauses the outer one."""

    def __init__(self) -> None:
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self._entered = [REST]
        self._since = time.monotonic()
        self._thread = get_ident()

    @contextmanager
    def spent(self, name: str) -> Iterator[None]:
        """Count the time in this context as `name`; does nothing in other threads."""
        if get_ident() != self._thread:
            yield
            return
        self._change()
        self._entered.append(name)
        try:
            yield
        finally:
            self._change()
            self._entered.pop()

    def each(self, name: str, items: Iterable[T]) -> Iterator[T]:
        """The same items; the time until each is available counts as `name`."""
        iterator = iter(items)
        while True:
            with self.spent(name):
                try:
                    item = next(iterator)
                except StopIteration:
                    return
            yield item

    def seconds(self) -> dict[str, float]:
        """Seconds by name up to now."""
        if get_ident() == self._thread:
            self._change()
        return dict(self._seconds)

    def _change(self) -> None:
        now = time.monotonic()
        self._seconds[self._entered[-1]] += now - self._since
        self._since = now


CLOCK = Clock()
"""The clock of this process."""
spent, each = CLOCK.spent, CLOCK.each


def spent_since(before: Mapping[str, float]) -> dict[str, float]:
    """Seconds by name since a reading of `CLOCK.seconds()`, to the millisecond."""
    now = CLOCK.seconds()
    passed = {name: round(now[name] - before.get(name, 0.0), 3) for name in now}
    return {name: seconds for name, seconds in sorted(passed.items()) if seconds > 0}


@contextmanager
def profiled(path: Path | None) -> Iterator[None]:
    """Profile this thread with cProfile and write the result to `path`, also after an error; None does nothing."""
    if path is None:
        yield
        return
    from cProfile import Profile

    profile = Profile()
    with profile:
        try:
            yield
        finally:
            profile.create_stats()
            profile.dump_stats(path)
