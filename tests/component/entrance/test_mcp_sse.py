"""Servers of legacy SSE behind the gateway."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import ClientSession

from entrance.mcp.upstream.server import ServerConnection
from entrance.ports import McpServer
from entrance.tool_policy import BeyondTools, ConnectionRules, ToolRule
from entrance.tool_policy import Mode as ToolMode
from tests.component.entrance.raw_client import opened
from tests.component.entrance.test_mcp import MODES, Mode, mcp_client, text_of
from tests.component.entrance.test_mcp_servers import asked, call
from tests.servers.anthropic import ModelServer
from tests.servers.door import Door, open_door
from tests.servers.everything import everything_over_sse
from tests.servers.odd_sse import TOOLS, OddSse, odd_sse
from tests.waiting import until

SECRET = "a-very-secret-token"
pytestmark = pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")


@pytest.fixture
async def odd() -> AsyncIterator[OddSse]:
    async with odd_sse(SECRET) as server:
        yield server


@asynccontextmanager
async def house_of(folder: Path, model: ModelServer, odd: OddSse) -> AsyncIterator[Door]:
    servers = [McpServer("odd", odd.url, "odd-token", transport="sse")]
    async with open_door(folder, model, servers=servers) as opened:
        host = odd.url.removeprefix("http://").removesuffix("/sse")
        await opened.vault.put("odd-token", SECRET, [host], "mcp")
        opened.reopen(tools={"odd": frozenset(TOOLS)})
        yield opened


@pytest.fixture
async def house(tmp_path: Path, model: ModelServer, odd: OddSse) -> AsyncIterator[Door]:
    async with house_of(tmp_path, model, odd) as opened:
        yield opened


@pytest.mark.parametrize("mode", MODES)
async def test_a_server_made_with_the_sdk_is_used_over_legacy_sse(
    tmp_path: Path, model: ModelServer, mode: Mode
) -> None:
    tools = frozenset({"test_simple_text", "test_tool_with_progress", "test_tool_with_logging"})
    with everything_over_sse() as url:
        servers = [McpServer("old", url, transport="sse")]
        async with open_door(tmp_path, model, servers=servers) as house:
            more = BeyondTools(resources=("test://*",))
            rules = ConnectionRules(dict.fromkeys(tools, ToolRule()), ToolMode.FORBIDDEN, more=more)
            house.reopen(tools={}, tool_rules={"old": rules})
            heard: list[float] = []

            async def heard_of(progress: float, total: float | None, message: str | None) -> None:
                del total, message
                heard.append(progress)

            async with mcp_client(house, mode) as client:
                listed = {tool.name for tool in (await client.list_tools()).tools}
                simple = text_of(await client.call_tool("test_simple_text", {}))
                await client.call_tool("test_tool_with_progress", {}, progress_callback=heard_of)
                resources = await client.list_resources()
    assert listed == tools
    assert simple.startswith("This is a simple text")
    assert heard == [0, 50, 100]
    assert resources.resources


async def test_a_run_has_one_stream_and_the_credential_goes_to_both_of_its_places(
    house: Door, odd: OddSse
) -> None:
    assert await call(house, "count") == ("0: 1", False)
    assert await call(house, "count", "2026-07-28") == ("0: 2", False)
    assert await call(house, "leak") == ("my token is [redacted]", False)
    assert len(odd.streams) == 1
    assert set(odd.shown) == {"GET", "POST"}


async def test_a_call_whose_stream_broke_is_never_sent_again(house: Door, odd: OddSse) -> None:
    text, is_error = await call(house, "cut")
    assert is_error
    assert "whether it was done is not known" in text
    assert odd.called == ["cut"]
    assert house.lines("outcome")[-1]["result"] == "unknown"
    assert await call(house, "count") == ("1: 1", False), "the next one begins a new stream"


async def test_a_stream_that_broke_between_calls_is_begun_anew(house: Door, odd: OddSse) -> None:
    assert await call(house, "count") == ("0: 1", False)
    odd.cut(0)
    server = house.connections["odd"]
    assert isinstance(server, ServerConnection)
    [kept] = server._runs.values()
    await until(lambda: kept.session is not None and kept.session.over)
    assert await call(house, "count") == ("1: 2", False)


async def test_a_session_that_is_forgotten_is_begun_anew(house: Door, odd: OddSse) -> None:
    assert await call(house, "count") == ("0: 1", False)
    odd.forgetful = True
    assert await call(house, "count") == ("1: 2", False)
    assert odd.called == ["count", "count"]


async def test_a_server_that_asks_is_answered_where_it_takes_messages(
    house: Door, odd: OddSse
) -> None:
    assert await call(house, "ask") == ("0: 1", False)
    await until(lambda: bool(odd.answers))
    assert odd.answers == [{"jsonrpc": "2.0", "id": "q", "result": {"action": "decline"}}]


@pytest.mark.parametrize(
    "place",
    [
        "http://evil.example/messages/",
        "//evil.example/messages/",
        "https://127.0.0.1/messages/",
        "http://127.0.0.1@evil.example/messages/",
        "http://[bad/messages/",
        "/messages/\u00fc",
    ],
)
async def test_messages_go_nowhere_else_than_where_the_stream_is(
    tmp_path: Path, model: ModelServer, place: str
) -> None:
    async with odd_sse(SECRET, place) as odd, house_of(tmp_path, model, odd) as house:
        text, is_error = await call(house, "count")
    assert is_error
    assert "odd can't be reached" in text
    assert odd.shown == ["GET"]


async def test_the_vault_judges_the_place_for_messages_too(
    tmp_path: Path, model: ModelServer
) -> None:
    """Another path of the same host may be anything: the credential isn't for it."""
    async with odd_sse(SECRET, "/admin") as odd, house_of(tmp_path, model, odd) as house:
        _, is_error = await call(house, "count")
    assert is_error
    assert odd.shown == ["GET"]


async def test_a_run_whose_client_leaves_ends_its_stream(
    house: Door, odd: OddSse, http: ClientSession
) -> None:
    headers = await opened(house, http)
    async with asked(house, http, "count", headers) as answer:
        assert (await answer.json())["result"]["content"][0]["text"] == "0: 1"
    async with http.delete(f"{house.url}/mcp", headers=headers) as answer:
        assert answer.status == 200
    await until(lambda: odd.ended == [0])
