"""Where the time of a process goes: wall seconds by what it did, each second counted once.

    with spent("load"): ...            inside another one, its time is taken out of the outer one's
    for row in each("judge", rows):    the time in which the iterator makes the next item, not what is done with it

One thread is timed, the first that asks. It knows no run and no engine.
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
"""What passes outside of everything else."""


class Clock:
    """Adds up seconds by name; what is entered inside something else pauses it."""

    def __init__(self) -> None:
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self._entered = [REST]
        self._since = time.monotonic()
        self._thread = get_ident()

    @contextmanager
    def spent(self, name: str) -> Iterator[None]:
        """What is done inside counts as `name`; another thread's time does not count, for it is nobody's wait."""
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
        """The same items, the making of each counted as `name`."""
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
"""Of the process."""
spent, each = CLOCK.spent, CLOCK.each


def spent_since(before: Mapping[str, float]) -> dict[str, float]:
    """Seconds by name since a reading of `CLOCK.seconds()`, to the millisecond."""
    now = CLOCK.seconds()
    passed = {name: round(now[name] - before.get(name, 0.0), 3) for name in now}
    return {name: seconds for name, seconds in sorted(passed.items()) if seconds > 0}


@contextmanager
def profiled(path: Path | None) -> Iterator[None]:
    """Write in which functions of this thread the time passes to `path`, however it ends; None writes nothing."""
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
