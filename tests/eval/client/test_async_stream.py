from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from eval.client.async_stream import stream


class Worker:
    """Doubles numbers; waits for ever on negative ones, fails on 1313."""

    def __init__(self) -> None:
        self.running = self.most = self.cancelled = 0
        self.closed = False

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[Callable[[int], Coroutine[Any, Any, int]]]:
        try:
            yield self.double
        finally:
            self.closed = True

    async def double(self, number: int) -> int:
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            await asyncio.sleep(3600 if number < 0 else 0.001 * (number % 3))
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        finally:
            self.running -= 1
        if number == 1313:
            raise ValueError("thirteen")
        return 2 * number


def counted(numbers: list[int], drawn: list[int]) -> Iterator[int]:
    for number in numbers:
        drawn.append(number)
        yield number


def threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name == "async_stream"]


def test_every_item_has_its_result_and_no_more_are_in_hand_than_there_is_room_for() -> None:
    worker = Worker()
    assert sorted(stream(range(100), worker.opened(), 7)) == list(range(0, 200, 2))
    assert 1 < worker.most <= 7 and worker.closed and not threads()


def test_nothing_in_nothing_out() -> None:
    worker = Worker()
    assert list(stream([], worker.opened(), 3)) == [] and worker.closed


def test_items_are_drawn_only_as_there_is_room() -> None:
    drawn: list[int] = []
    results = stream(counted([0] * 50, drawn), Worker().opened(), 4)
    next(results)
    assert len(drawn) <= 5
    results.close()


def test_a_consumer_that_stops_leaves_nothing_running() -> None:
    worker = Worker()
    results = stream([-1, -1, 1, 1, 1, 1, 1], worker.opened(), 3)
    assert next(results) == 2
    results.close()
    assert (worker.running, worker.cancelled, worker.closed) == (0, 2, True) and not threads()


def test_an_error_of_the_work_comes_out_after_the_results_before_it() -> None:
    worker = Worker()
    results = stream([0, 1313, -1, -1], worker.opened(), 4)
    seen = []
    with pytest.raises(ValueError, match="thirteen"):
        for result in results:
            seen.append(result)
    assert seen in ([], [0]) and worker.running == 0 and worker.closed and not threads()


def test_an_error_of_the_source_comes_out() -> None:
    def source() -> Iterator[int]:
        yield 1
        raise KeyError("source")

    worker = Worker()
    with pytest.raises(KeyError, match="source"):
        list(stream(source(), worker.opened(), 4))
    assert worker.closed and not threads()


def test_an_error_of_the_consumer_stops_the_work() -> None:
    worker = Worker()
    with pytest.raises(RuntimeError, match="consumer"):
        for _ in stream([1, -1, 1], worker.opened(), 2):
            raise RuntimeError("consumer")
    assert worker.running == 0 and worker.closed and not threads()


def test_a_worker_that_cannot_open_says_so() -> None:
    @asynccontextmanager
    async def broken() -> AsyncIterator[Any]:
        raise OSError("no")
        yield

    with pytest.raises(OSError, match="no"):
        list(stream([1], broken(), 2))
    assert not threads()
