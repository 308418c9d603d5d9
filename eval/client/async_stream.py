"""A synchronous iterator over the results of concurrent asynchronous work.

The work runs in an event loop in its own thread; items are read and results are yielded in the consumer's thread. Knows
nothing about the work.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Generator, Iterable, Iterator
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, AsyncExitStack, contextmanager
from queue import SimpleQueue
from typing import Any, TypeVar

T = TypeVar("T")
R = TypeVar("R")


def stream(
    items: Iterable[T], worker: AbstractAsyncContextManager[Callable[[T], Coroutine[Any, Any, R]]], room: int
) -> Generator[R, None, None]:
    """Yield the result for each item as soon as it is finished, in any order.

    An item is read only while fewer than `room` are in progress. If the consumer stops early or is interrupted, or the
    work on an item raises, all other work is cancelled and the worker is closed before this returns.

    Args:
        worker: entered in the event loop; provides the function that turns an item into its result.

    Raises:
        Whatever the work on an item raises, after the results before it have been yielded.
    """
    finished: SimpleQueue[Future[R]] = SimpleQueue()
    in_hand = 0
    with _loop_in_thread() as run, _entered(worker, run) as work:
        for item in items:
            run(work(item)).add_done_callback(finished.put)
            in_hand += 1
            while in_hand >= room or not finished.empty():
                in_hand -= 1
                yield finished.get().result()
        for _ in range(in_hand):
            yield finished.get().result()


Run = Callable[[Coroutine[Any, Any, Any]], "Future[Any]"]


@contextmanager
def _loop_in_thread() -> Iterator[Run]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="async_stream", daemon=True)
    thread.start()
    try:
        yield lambda work: asyncio.run_coroutine_threadsafe(work, loop)
    finally:
        asyncio.run_coroutine_threadsafe(_cancel_all(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


@contextmanager
def _entered(worker: AbstractAsyncContextManager[T], run: Run) -> Iterator[T]:
    stack = AsyncExitStack()
    try:
        yield run(stack.enter_async_context(worker)).result()
    finally:
        run(_cancel_all()).result()
        run(stack.aclose()).result()


async def _cancel_all() -> None:
    tasks: set[asyncio.Task[Any]] = asyncio.all_tasks() - {asyncio.current_task()}  # type: ignore[arg-type]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
