"""Servers of others behind the gateway: what they remember, what they ask, and how they fail."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import orjson
import pytest
from aiohttp import ClientResponse, ClientSession

from entrance.ports import McpServer
from entrance.session import BeyondTools
from tests.component.entrance.test_mcp import MODES, Mode, mcp_client, text_of
from tests.servers.anthropic import ModelServer
from tests.servers.door import Door, open_door
from tests.servers.odd_mcp import TOOLS, OddServer, odd_server
from tests.waiting import until

MINE = {"odd": frozenset({*TOOLS, "fresh"})}
EVENTS = {"accept": "application/json, text/event-stream"}


@pytest.fixture
async def odd() -> AsyncIterator[OddServer]:
    async with odd_server() as server:
        yield server


@pytest.fixture
async def house(tmp_path: Path, model: ModelServer, odd: OddServer) -> AsyncIterator[Door]:
    async with open_door(tmp_path, model, servers=[McpServer("odd", odd.url)]) as opened:
        opened.reopen(tools=MINE)
        yield opened


@asynccontextmanager
async def asked(
    house: Door, http: ClientSession, name: str, headers: dict[str, str], **meta: object
) -> AsyncIterator[ClientResponse]:
    """A call, as it is answered."""
    params = {"name": name, "arguments": {}, "_meta": meta}
    body = {"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": params}
    async with http.post(f"{house.url}/mcp", json=body, headers=headers | EVENTS) as answer:
        yield answer


async def opened(
    house: Door, http: ClientSession, capabilities: dict[str, Any] | None = None
) -> dict[str, str]:
    """The headers of a new session of a client."""
    params = {"protocolVersion": "2025-06-18", "capabilities": capabilities or {}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    async with http.post(f"{house.url}/mcp", json=body, headers=house.bearer) as answer:
        return house.bearer | {"mcp-session-id": answer.headers["mcp-session-id"]}


async def event(answer: ClientResponse) -> dict[str, Any]:
    """The next message on a stream."""
    while line := await answer.content.readline():
        if line.startswith(b"data: "):
            message: dict[str, Any] = orjson.loads(line[6:])
            return message
    raise AssertionError("the stream ended")


async def call(house: Door, name: str, mode: Mode = "auto") -> tuple[str, bool]:
    async with mcp_client(house, mode) as client:
        result = await client.call_tool(name, {})
    return text_of(result), result.is_error


@pytest.mark.parametrize("mode", MODES)
async def test_a_run_has_one_session_with_a_server_that_remembers(
    house: Door, odd: OddServer, mode: Mode
) -> None:
    """CASE-62, CASE-63: counter 1, 2, 3; no new session for each call."""
    async with mcp_client(house, mode) as client:
        counted = [text_of(await client.call_tool("count", {})) for _ in range(3)]
    assert counted == ["1", "2", "3"]
    assert odd.listed == 1


async def test_a_client_that_leaves_takes_the_servers_session_along(
    house: Door, odd: OddServer, http: ClientSession
) -> None:
    """CASE-68: DELETE goes upstream; nothing left over."""
    headers = await opened(house, http)
    async with asked(house, http, "count", headers) as answer:
        assert answer.status == 200
    async with http.delete(f"{house.url}/mcp", headers=headers) as answer:
        assert answer.status == 200
    assert odd.ended == ["s-1"]
    assert not odd.counts


async def test_a_session_that_the_server_has_forgotten_is_begun_anew(
    house: Door, odd: OddServer
) -> None:
    assert await call(house, "count") == ("1", False)
    odd.forget()
    assert await call(house, "count") == ("1", False)
    assert odd.called == ["count", "count"]


async def test_a_server_that_dies_in_mid_call_is_not_asked_again(
    house: Door, odd: OddServer
) -> None:
    text, is_error = await call(house, "die")
    assert is_error
    assert "whether it was done is not known" in text
    assert odd.called == ["die"]
    assert house.lines("outcome")[-1]["result"] == "unknown"
    assert await call(house, "count") == ("1", False)


async def test_a_cancelled_call_is_cancelled_at_the_server(
    house: Door, odd: OddServer, http: ClientSession
) -> None:
    """CASE-67, in the handshake era: by a notification."""
    headers = await opened(house, http)
    params = {"requestId": 9, "reason": "changed my mind"}
    notice = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}

    async def cancelled() -> None:
        await until(lambda: odd.called == ["hang"])
        async with http.post(f"{house.url}/mcp", json=notice, headers=headers) as answer:
            assert answer.status == 202

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(cancelled())
        async with asked(house, http, "hang", headers) as answer:
            assert (await answer.json())["error"]["code"] == -32800
    await until(lambda: [each["method"] for each in odd.notices][-1] == "notifications/cancelled")
    assert house.lines("outcome")[-1]["result"] == "cancelled"


async def test_a_client_of_the_modern_era_cancels_by_leaving(
    house: Door, odd: OddServer, http: ClientSession
) -> None:
    """CASE-67."""

    async def calling() -> None:
        async with asked(house, http, "hang", house.bearer):
            pass

    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(calling())
        await until(lambda: odd.called == ["hang"])
        task.cancel()
    await until(lambda: [each["method"] for each in odd.notices][-1] == "notifications/cancelled")


async def test_progress_is_passed_on_at_once_with_the_clients_own_token(
    house: Door, odd: OddServer, http: ClientSession
) -> None:
    """CASE-66: unbuffered; the server goes on only when the client has seen it."""
    async with asked(house, http, "steps", house.bearer, progressToken="mine") as answer:
        first = await event(answer)
        assert first["method"] == "notifications/progress"
        assert first["params"]["progressToken"] == "mine"
        odd.go_on.set()
        assert (await event(answer))["result"]["content"][0]["text"] == "done"


async def test_a_server_that_asks_is_declined_in_the_runs_name_and_that_is_on_record(
    house: Door, odd: OddServer, http: ClientSession
) -> None:
    headers = await opened(house, http, {"elicitation": {}})
    async with asked(house, http, "ask", headers) as answer:
        assert (await answer.json())["result"]["content"][0]["text"] == "done"
    assert odd.answers == [{"jsonrpc": "2.0", "id": "q1", "result": {"action": "decline"}}]
    [line] = [each for each in house.lines("request") if "asks" in each["subject"]]
    assert (line["decision"], line["door"]) == ("deny", "mcp")


async def test_a_server_that_may_ask_is_answered_by_the_client(
    house: Door, odd: OddServer, http: ClientSession
) -> None:
    house.reopen(beyond_tools={"odd": BeyondTools(asks=frozenset({"elicitation"}))})
    headers = await opened(house, http, {"elicitation": {}})
    async with asked(house, http, "ask", headers) as answer:
        question = await event(answer)
        assert question["params"]["message"] == "Who?"
        told = {"action": "accept", "content": {"name": "me"}}
        reply = {"jsonrpc": "2.0", "id": question["id"], "result": told}
        async with http.post(f"{house.url}/mcp", json=reply, headers=headers) as taken:
            assert taken.status == 202
        assert (await event(answer))["result"]["content"][0]["text"] == "done"
    assert odd.answers[0]["result"] == told


async def test_a_change_of_the_tools_reaches_who_listens_and_the_list_is_asked_for_anew(
    house: Door, odd: OddServer, http: ClientSession
) -> None:
    """CASE-66: list_changed."""
    headers = await opened(house, http)
    body = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    async with http.get(f"{house.url}/mcp", headers=headers | EVENTS) as stream:
        async with http.post(f"{house.url}/mcp", json=body, headers=headers) as answer:
            assert len((await answer.json())["result"]["tools"]) == len(TOOLS)
        odd.tools.append({"name": "fresh", "inputSchema": {"type": "object"}})
        await odd.tell_change()
        assert (await event(stream))["method"] == "notifications/tools/list_changed"
    async with http.post(f"{house.url}/mcp", json=body, headers=headers) as answer:
        names = [tool["name"] for tool in (await answer.json())["result"]["tools"]]
    assert "fresh" in names


async def test_what_was_not_granted_reaches_no_server(house: Door, odd: OddServer) -> None:
    house.reopen(tools={"odd": frozenset({"count"})})
    text, is_error = await call(house, "die")
    assert is_error
    assert "Refused" in text
    assert not odd.called


async def test_the_credential_is_put_on_and_never_comes_back(
    tmp_path: Path, model: ModelServer
) -> None:
    secret = "a-very-secret-token"
    async with odd_server(secret) as odd:
        servers = [McpServer("odd", odd.url, "odd-token")]
        async with open_door(tmp_path, model, servers=servers) as house:
            host = odd.url.removeprefix("http://").removesuffix("/mcp")
            await house.vault.put("odd-token", secret, [host], "mcp")
            house.reopen(tools=MINE)
            assert await call(house, "leak") == ("my token is [redacted]", False)


async def test_a_server_that_is_away_hides_only_its_own_tools(
    tmp_path: Path, model: ModelServer
) -> None:
    servers = [McpServer("odd", "http://127.0.0.1:9/mcp")]
    async with open_door(tmp_path, model, servers=servers) as house:
        house.reopen(tools={"tracker": frozenset({"get_item"}), **MINE})
        async with mcp_client(house) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            refused = await client.call_tool("count", {})
    assert names == ["get_item"]
    assert "odd can't be reached" in text_of(refused)
