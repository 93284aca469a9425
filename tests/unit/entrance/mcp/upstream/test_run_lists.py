"""When a server is asked for a list again."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from entrance.mcp.messages import Json
from entrance.mcp.upstream.run_lists import AGAIN_S, REMEMBERED_S, RunLists


@dataclass
class Server:
    """One that is asked; each list is another."""

    now: float = 100.0
    asked: int = 0
    lists: RunLists = field(init=False)

    def __post_init__(self) -> None:
        self.lists = RunLists(lambda: self.now)

    async def ask(self) -> Sequence[Json]:
        self.asked += 1
        return [{"name": str(self.asked)}]

    async def tools(self) -> Sequence[Json]:
        return await self.lists.of("modern", "tools", self.ask)


async def test_a_list_stands_for_a_while() -> None:
    server = Server()
    assert await server.tools() == [{"name": "1"}]
    server.now += REMEMBERED_S - 1
    assert await server.tools() == [{"name": "1"}]
    server.now += 1
    assert await server.tools() == [{"name": "2"}]


async def test_one_that_has_changed_is_asked_for_at_once_and_no_other() -> None:
    server = Server()
    await server.tools()
    server.lists.changed("prompts")
    assert await server.tools() == [{"name": "1"}]
    server.lists.changed("tools")
    assert await server.tools() == [{"name": "2"}]
    assert await server.tools() == [{"name": "2"}]


async def test_one_that_changes_all_the_time_is_asked_for_now_and_then() -> None:
    server = Server()
    await server.tools()
    server.lists.changed("tools")
    await server.tools()
    server.lists.changed("tools")
    server.now += AGAIN_S - 0.05
    loop = asyncio.get_running_loop()
    before = loop.time()
    assert await server.tools() == [{"name": "3"}]
    assert loop.time() - before >= 0.04


async def test_what_changes_while_it_is_asked_for_is_asked_for_anew() -> None:
    server = Server()

    async def ask() -> Sequence[Json]:
        server.lists.changed("tools")
        return []

    assert await server.lists.of("modern", "tools", ask) == []
    assert await server.tools() == [{"name": "1"}]


@pytest.mark.parametrize(("age_s", "asked"), [(0, 1), (AGAIN_S, 2)])
async def test_one_that_is_doubted_is_asked_for_anew_if_it_was_not_just_asked_for(
    age_s: float, asked: int
) -> None:
    server = Server()
    await server.tools()
    server.now += age_s
    assert server.lists.doubt("tools") == (asked > 1)
    assert not server.lists.doubt("prompts")
    await server.tools()
    assert server.asked == asked
