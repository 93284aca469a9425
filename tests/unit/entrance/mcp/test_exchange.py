"""A request while it is being done: who sends what is told begins when there is something."""

import asyncio

import pytest

from entrance.mcp.exchange import Exchange
from entrance.mcp.messages import Json


async def worked(exchange: Exchange) -> str:
    return await exchange.work(_done, _unwanted, "withdrawn")


async def _done() -> str:
    return "done"


def _unwanted() -> None:
    pytest.fail("there is nothing to be sent")


def sent(exchange: Exchange) -> list[Json | None]:
    return [exchange.outbox.get_nowait() for _ in range(exchange.outbox.qsize())]


async def test_work_that_tells_nothing_needs_nobody_to_send_it() -> None:
    exchange = Exchange("modern")
    assert await worked(exchange) == "done"
    assert sent(exchange) == [None]


async def test_sending_begins_once_with_the_first_that_is_told() -> None:
    exchange, begun = Exchange("modern"), []

    async def telling() -> str:
        for number in range(2):
            await exchange.tell("notifications/message", {"number": number})
        return "done"

    assert await exchange.work(telling, lambda: begun.append(1), "withdrawn") == "done"
    assert begun == [1]
    assert [one and one["params"] for one in sent(exchange)] == [{"number": 0}, {"number": 1}, None]


async def test_sending_begins_after_a_while_without_a_word() -> None:
    exchange, begun = Exchange("modern", quiet_s=0.01), asyncio.Event()

    async def long() -> str:
        await begun.wait()
        return "done"

    async with asyncio.timeout(5):
        assert await exchange.work(long, begun.set, "withdrawn") == "done"


async def test_who_reads_no_events_is_told_nothing() -> None:
    exchange = Exchange("modern", heard=False)

    async def telling() -> str:
        await exchange.tell("notifications/message", {})
        return "done"

    assert await exchange.work(telling, _unwanted, "withdrawn") == "done"
    assert sent(exchange) == [None]


async def test_what_is_withdrawn_ends_where_it_is_and_the_task_goes_on() -> None:
    exchange, ended = Exchange("modern"), []

    async def endless() -> str:
        exchange.withdraw()
        exchange.withdraw()
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("it")
        return "done"

    async with asyncio.timeout(5):
        assert await exchange.work(endless, _unwanted, "withdrawn") == "withdrawn"
        await asyncio.sleep(0)
    assert ended == ["it"]


async def test_a_client_that_leaves_is_not_answered() -> None:
    exchange = Exchange("modern")

    async def endless() -> str:
        await asyncio.Event().wait()
        return "done"

    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(exchange.work(endless, _unwanted, "withdrawn"))
        await asyncio.sleep(0)
        task.cancel()
    assert task.cancelled()
