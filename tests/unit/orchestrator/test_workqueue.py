"""The queue of keys: one worker a key, backoff, later keys, and a clean end."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from itertools import pairwise

from orchestrator.workqueue import Workqueue
from tests.waiting import until


@asynccontextmanager
async def at_work(
    handle: Callable[[str], Awaitable[float | None]], workers: int = 4, **backoff: float
) -> AsyncIterator[Workqueue]:
    queue = Workqueue(handle, workers, **backoff)
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(queue.run())
        yield queue
        task.cancel()


async def test_a_key_is_never_worked_on_twice_at_once() -> None:
    now: list[str] = []
    seen: list[str] = []

    async def handle(key: str) -> None:
        assert key not in now
        now.append(key)
        await asyncio.sleep(0)
        now.remove(key)
        seen.append(key)

    async with at_work(handle) as queue:
        for number in range(50):
            queue.add(f"T-{number % 3}")
            await asyncio.sleep(0)
        await until(lambda: not now and set(seen) == {"T-0", "T-1", "T-2"})


async def test_a_key_that_is_added_twice_before_it_is_worked_on_is_worked_on_once() -> None:
    seen: list[str] = []

    async def handle(key: str) -> None:
        seen.append(key)

    async with at_work(handle) as queue:
        queue.add("T-1")
        queue.add("T-1")
        queue.add("T-2")
        await until(lambda: "T-2" in seen)
    assert sorted(seen) == ["T-1", "T-2"]


async def test_a_key_added_while_it_is_worked_on_is_worked_on_again() -> None:
    goes_on = asyncio.Event()
    seen: list[str] = []

    async def handle(key: str) -> None:
        seen.append(key)
        await goes_on.wait()

    async with at_work(handle) as queue:
        queue.add("T-1")
        await until(lambda: seen == ["T-1"])
        queue.add("T-1")
        queue.add("T-1")
        goes_on.set()
        await until(lambda: len(seen) == 2)
    assert seen == ["T-1", "T-1"]


async def test_other_keys_are_worked_on_while_one_takes_long() -> None:
    for_ever = asyncio.Event()
    seen: list[str] = []

    async def handle(key: str) -> None:
        if key == "slow":
            await for_ever.wait()
        seen.append(key)

    async with at_work(handle, workers=2) as queue:
        queue.add("slow")
        queue.add("T-1")
        queue.add("T-2")
        await until(lambda: len(seen) == 2)
    assert seen == ["T-1", "T-2"]


async def test_a_key_that_wants_to_be_seen_later_is_seen_later_and_in_order() -> None:
    seen: list[str] = []

    async def handle(key: str) -> None:
        seen.append(key)

    async with at_work(handle, workers=1) as queue:
        queue.add_after("third", 0.12)
        queue.add_after("first", 0.02)
        queue.add_after("second", 0.07)
        await until(lambda: len(seen) == 3)
    assert seen == ["first", "second", "third"]


async def test_what_a_key_asks_for_is_when_it_is_seen_again() -> None:
    seen: list[float] = []
    loop = asyncio.get_running_loop()

    async def handle(_key: str) -> float | None:
        seen.append(loop.time())
        return 0.05 if len(seen) == 1 else None

    async with at_work(handle) as queue:
        queue.add("T-1")
        await until(lambda: len(seen) == 2)
    assert seen[1] - seen[0] >= 0.05


async def test_a_waiting_key_does_not_multiply_however_often_it_is_polled() -> None:
    """A watcher adds every key every two seconds, for hours."""
    calls = 0

    async def handle(_key: str) -> float:
        nonlocal calls
        calls += 1
        return 1000.0

    async with at_work(handle) as queue:
        for polls in range(1, 31):
            queue.add("T-1")
            await until(lambda polls=polls: calls >= polls)  # type: ignore[misc]
        queue.add_after("T-1", 0)
        await until(lambda: calls == 31)
        assert len(queue._due) == 1


async def test_the_sooner_of_two_times_counts() -> None:
    seen: list[str] = []

    async def handle(key: str) -> None:
        seen.append(key)

    async with at_work(handle) as queue:
        queue.add_after("T-1", 1000)
        queue.add_after("T-1", 0.01)
        queue.add_after("T-1", 2000)
        await until(lambda: bool(seen))
    assert seen == ["T-1"]


async def test_a_bug_in_one_key_stops_no_other() -> None:
    seen: list[str] = []

    async def handle(key: str) -> None:
        if key == "broken":
            raise ZeroDivisionError
        seen.append(key)

    async with at_work(handle, workers=1) as queue:
        for key in ("broken", "T-1", "broken", "T-2"):
            queue.add(key)
        await until(lambda: len(seen) == 2)
    assert seen == ["T-1", "T-2"]


async def test_a_failing_key_is_tried_less_and_less_often_whatever_adds_it() -> None:
    loop = asyncio.get_running_loop()
    at: list[float] = []

    async def handle(_key: str) -> None:
        at.append(loop.time())
        raise ZeroDivisionError

    async with at_work(handle, first_backoff_s=0.02, longest_backoff_s=0.1) as queue:

        def tried(times: int) -> bool:
            queue.add("T-1")  # as a watcher does, all the time
            return len(at) >= times

        await until(lambda: tried(6))
    pauses = [later - sooner for sooner, later in pairwise(at)]
    for pause, least in zip(pauses, (0.02, 0.04, 0.08, 0.1, 0.1), strict=True):
        assert pause >= least * 0.9


async def test_a_key_that_recovers_is_no_longer_held_back() -> None:
    broken = True
    seen: list[str] = []

    async def handle(key: str) -> None:
        if broken:
            raise ZeroDivisionError
        seen.append(key)

    async with at_work(handle) as queue:
        queue.add("T-1")
        await until(lambda: queue._failures == {"T-1": 1})
        broken = False
        await until(lambda: seen == ["T-1"])
        assert not queue._failures
        queue.add("T-1")
        await until(lambda: seen == ["T-1", "T-1"])


def test_the_backoff_grows_to_a_limit() -> None:
    async def handle(_key: str) -> None:
        """Never called."""

    queue = Workqueue(handle, 1)
    pauses = [queue._backoff("T-1") for _ in range(2000)]
    assert pauses[:7] == [0.5, 1, 2, 4, 8, 16, 30]
    assert set(pauses[7:]) == {30}


async def test_cancelling_the_queue_cancels_what_is_being_worked_on() -> None:
    ends: list[str] = []

    async def handle(key: str) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ends.append(key)

    async with at_work(handle, workers=2) as queue:
        queue.add("T-1")
        queue.add("T-2")
        await until(lambda: queue._working == {"T-1", "T-2"})
    assert sorted(ends) == ["T-1", "T-2"]
    assert not queue._working
