"""Turns, so many at once for each."""

import asyncio

from entrance.turns import Turns


async def test_what_is_more_waits_and_others_do_not() -> None:
    turns, done = Turns(2), list[str]()

    async def take(name: str) -> None:
        async with turns.turn("run-1"):
            done.append(name)

    async with turns.turn("run-1"), turns.turn("run-2"), asyncio.TaskGroup() as tasks:
        async with turns.turn("run-1"):
            waiting = tasks.create_task(take("third"))
            async with turns.turn("run-2"):
                done.append("another's")
            assert not waiting.done()
        await waiting

    assert done == ["another's", "third"]


async def test_who_gives_up_waiting_takes_no_turn() -> None:
    turns = Turns(1)
    async with turns.turn("run-1"):
        waiting = asyncio.ensure_future(turns.turn("run-1").__aenter__())
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.wait([waiting])
    async with asyncio.timeout(5), turns.turn("run-1"):
        pass
    assert not turns._queues
