"""No byte of a tool call leaves before the decision about it is on the disk."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession

from entrance.ports import McpServer, Transport
from tests.component.entrance.raw_client import EVENTS, META, Era, modern, names
from tests.fakes.disk import FakeDisk
from tests.servers.anthropic import ModelServer
from tests.servers.door import Door, open_door
from tests.servers.modern_mcp import modern_mcp
from tests.servers.odd_mcp import odd_server
from tests.servers.odd_sse import odd_sse
from tests.servers.wire import Wire
from tests.waiting import until

type Asking = asyncio.Task[tuple[int, dict[str, Any]]]
SERVERS: dict[str, tuple[Any, str, Era, Transport]] = {
    "modern": (modern_mcp, "act", "modern", "http"),
    "handshake": (odd_server, "count", "handshake", "http"),
    "legacy SSE": (odd_sse, "count", "handshake", "sse"),
}
"""How each is served, its tool, its era and its transport."""


@dataclass
class Scene:
    """A door that has listed a server's tools, over a wire, with a disk that takes its time now."""

    door: Door
    wire: Wire
    disk: FakeDisk
    tool: str
    era: Era

    async def call(self, http: ClientSession, tool: str = "") -> tuple[int, dict[str, Any]]:
        """The status and the answer to a call."""
        params = {"name": tool or self.tool, "arguments": {}, "_meta": META}
        body = {"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": params}
        headers = self.door.bearer | EVENTS | (modern(body) if self.era == "modern" else {})
        async with http.post(f"{self.door.url}/mcp", json=body, headers=headers) as answer:
            return answer.status, await answer.json()

    @asynccontextmanager
    async def undecided(self, http: ClientSession, tool: str = "") -> AsyncIterator[Asking]:
        """A call while the disk is at its decision: all that may be done is, and nothing was sent."""
        before = self.wire.sent
        async with asyncio.TaskGroup() as tasks:
            asking = tasks.create_task(self.call(http, tool))
            await until(lambda: bool(self.disk.begun))
            await asyncio.sleep(0.1)
            assert self.wire.sent == before
            yield asking


@asynccontextmanager
async def scene(folder: Path, model: ModelServer, kind: str) -> AsyncIterator[Scene]:
    served, tool, era, transport = SERVERS[kind]
    disk = FakeDisk()
    disk.prompt = True
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(served())
        wire = await stack.enter_async_context(Wire(server.url).laid())
        servers = [McpServer("theirs", wire.url, transport=transport)]
        door = await stack.enter_async_context(open_door(folder, model, servers=servers, disk=disk))
        door.reopen(tools={"theirs": frozenset({tool}), "tracker": frozenset({"delete_item"})})
        async with ClientSession() as http:
            shown = await names(door, http, era)
        disk.prompt = False
        yield Scene(door, wire, disk, next(name for name in shown if tool in name), era)


@pytest.fixture(params=SERVERS)
async def at(
    tmp_path: Path, model: ModelServer, request: pytest.FixtureRequest
) -> AsyncIterator[Scene]:
    async with scene(tmp_path, model, request.param) as made:
        yield made


async def test_a_call_is_prepared_meanwhile_and_not_sent(at: Scene, http: ClientSession) -> None:
    before = at.wire.sent
    async with at.undecided(http) as asking:
        at.disk.end()
        status, answer = await asking
    assert (status, answer["result"].get("isError", False)) == (200, False)
    assert b"tools/call" in at.wire.sent.removeprefix(before)
    assert [line["type"] for line in at.door.lines()] == ["decided", "outcome"]


async def test_a_decision_that_can_not_be_recorded_is_not_acted_upon(
    at: Scene, http: ClientSession
) -> None:
    before = at.wire.sent
    async with at.undecided(http) as asking:
        at.disk.end(OSError("no space left on device"))
        status, answer = await asking
    assert (status, "can't be recorded" in str(answer)) == (503, True)
    assert at.wire.sent == before
    status, answer = await at.call(http)
    assert (status, answer["result"].get("isError", False)) == (200, False)
    assert [line["type"] for line in at.door.lines()] == ["decided", "outcome"]


async def test_of_a_call_that_is_given_up_meanwhile_its_server_hears_nothing(
    at: Scene, http: ClientSession
) -> None:
    before = at.wire.sent
    async with at.undecided(http) as asking:
        asking.cancel()
    await asyncio.sleep(0.05)
    at.disk.end()
    await until(lambda: len(at.door.lines("outcome")) == 1)
    assert at.door.lines("outcome")[0]["result"] == "cancelled"
    assert at.wire.sent == before


async def test_a_tool_of_our_own_waits_as_well(
    tmp_path: Path, model: ModelServer, http: ClientSession
) -> None:
    async with (
        scene(tmp_path, model, "modern") as at,
        at.undecided(http, "delete_item") as asking,
    ):
        assert not at.door.tools.calls
        at.disk.end()
        assert (await asking)[0] == 200
        assert at.door.tools.calls == [("delete_item", {})]
