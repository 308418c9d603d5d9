from __future__ import annotations

import asyncio

from eval.client.adaptive_limit import AdaptiveLimit


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


def test_no_more_run_than_are_allowed() -> None:
    async def scenario() -> None:
        limit = AdaptiveLimit(3)
        running = most = 0

        async def work() -> None:
            nonlocal running, most
            await limit.acquire(repeated=False)
            running += 1
            most = max(most, running)
            await asyncio.sleep(0)
            running -= 1
            limit.release()

        await asyncio.gather(*(work() for _ in range(20)))
        assert (running, most) == (0, 3)

    asyncio.run(scenario())


def test_it_halves_once_for_requests_sent_before_the_news() -> None:
    async def scenario() -> None:
        limit = AdaptiveLimit(16)
        tickets = [await limit.acquire(repeated=False) for _ in range(8)]
        for ticket in tickets:
            limit.throttled(ticket)
        assert limit.allowed == 8
        limit.release()
        limit.throttled(await limit.acquire(repeated=False))
        assert limit.allowed == 4
        for _ in range(10):
            limit.release()
            limit.throttled(await limit.acquire(repeated=False)) if limit.allowed > 8 else None
        assert limit.allowed >= 1

    asyncio.run(scenario())


def test_it_never_falls_below_one_nor_grows_above_the_maximum() -> None:
    async def scenario() -> None:
        limit = AdaptiveLimit(4)
        for _ in range(10):
            limit.throttled(await limit.acquire(repeated=False))
            limit.release()
        assert limit.allowed == 1
        for _ in range(3):
            limit.answered()
        assert 1 < limit.allowed < 4
        for _ in range(100):
            limit.answered()
        assert limit.allowed == 4

    asyncio.run(scenario())


def test_a_repeated_attempt_goes_first() -> None:
    async def scenario() -> None:
        limit = AdaptiveLimit(1)
        await limit.acquire(repeated=False)
        order = []

        async def work(name: str, repeated: bool) -> None:
            await limit.acquire(repeated=repeated)
            order.append(name)
            limit.release()

        tasks = [asyncio.create_task(work(*one)) for one in [("a", False), ("b", False), ("again", True)]]
        await settle()
        limit.release()
        await asyncio.gather(*tasks)
        assert order == ["again", "a", "b"]

    asyncio.run(scenario())


def test_a_cancelled_waiter_takes_no_slot_with_it() -> None:
    async def scenario() -> None:
        limit = AdaptiveLimit(1)
        await limit.acquire(repeated=False)
        waiting = [asyncio.create_task(limit.acquire(repeated=False)) for _ in range(3)]
        await settle()
        waiting[0].cancel()
        limit.release()  # hands the slot to the second, which is cancelled before it wakes up
        waiting[1].cancel()
        await settle()
        assert waiting[2].done() and not waiting[2].cancelled()
        limit.release()
        await asyncio.wait_for(limit.acquire(repeated=False), 10)

    asyncio.run(scenario())
