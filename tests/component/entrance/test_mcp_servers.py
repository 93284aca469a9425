"""Servers of others behind the gateway: what they remember, what they ask, and how they fail."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from time import monotonic

import pytest
from aiohttp import ClientResponse, ClientSession

from entrance.decision import Decision, Deny
from entrance.errors import NotFound
from entrance.mcp.connection import Caller
from entrance.mcp.connections import Connections
from entrance.mcp.exchange import Exchange
from entrance.mcp.gateway import Limits
from entrance.mcp.released import Released
from entrance.mcp.upstream.endpoint import client_session
from entrance.mcp.upstream.run_lists import AGAIN_S
from entrance.ports import McpServer
from entrance.tool_policy import BeyondTools, ConnectionRules, ToolRule
from entrance.vault.client_tokens import ClientTokens
from entrance.vault.servers import VaultServers
from tests.component.entrance.raw_client import EVENTS, event, listening, names, opened
from tests.component.entrance.test_mcp import MODES, Mode, mcp_client, text_of
from tests.servers.anthropic import ModelServer
from tests.servers.door import Door, open_door
from tests.servers.odd_mcp import TOOLS, OddServer, odd_server
from tests.waiting import until

MINE = {"odd": frozenset({*TOOLS, "fresh"})}


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


async def call(house: Door, name: str, mode: Mode = "auto") -> tuple[str, bool]:
    async with mcp_client(house, mode) as client:
        result = await client.call_tool(name, {})
    return text_of(result), result.is_error


@pytest.mark.parametrize("mode", MODES)
async def test_a_run_has_one_session_with_a_server_that_remembers(
    house: Door, odd: OddServer, mode: Mode
) -> None:
    """CASE-62, CASE-63: counter 1, 2, 3; no new session for each call.

    CASE-64: the server closes the connection on which the session was begun.
    """
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
    await until(lambda: bool(house.lines("outcome")))
    assert odd.notices[-1]["method"] == "notifications/cancelled"
    assert house.lines("outcome")[-1]["result"] == "cancelled"


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
    asks = BeyondTools(asks=frozenset({"elicitation"}))
    house.reopen(tool_rules={"odd": ConnectionRules({"ask": ToolRule()}, more=asks)})
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


@pytest.mark.parametrize("mode", MODES)
async def test_a_server_that_asks_whom_it_can_not_is_declined_though_it_may_ask_and_goes_on(
    house: Door, odd: OddServer, mode: Mode
) -> None:
    """It asks in mid-call, for which a client of 2026-07-28 has no ear; the other can't be asked either."""
    asks = BeyondTools(asks=frozenset({"elicitation"}))
    house.reopen(tool_rules={"odd": ConnectionRules({"ask": ToolRule()}, more=asks)})
    assert await call(house, "ask", mode) == ("done", False)
    assert odd.answers[0]["result"] == {"action": "decline"}
    [line] = [each for each in house.lines("request") if "asks" in each["subject"]]
    assert line["decision"] == "allow"


async def test_a_change_of_the_tools_reaches_who_listens_and_the_list_is_asked_for_anew(
    house: Door, odd: OddServer, http: ClientSession
) -> None:
    """CASE-66: list_changed."""
    headers = await opened(house, http)
    async with http.get(f"{house.url}/mcp", headers=headers | EVENTS) as stream:
        assert len(await names(house, http)) == len(TOOLS)
        odd.tools.append({"name": "fresh", "inputSchema": {"type": "object"}})
        await odd.tell_change()
        assert (await event(stream))["method"] == "notifications/tools/list_changed"
    assert "fresh" in await names(house, http)


async def test_a_tool_that_a_server_adds_in_mid_run_is_found_by_calling_it(
    house: Door, odd: OddServer
) -> None:
    """Nobody listens to the server, so its word that its tools have changed is not heard."""
    odd.results["fresh"] = {"content": [{"type": "text", "text": "new"}]}
    async with mcp_client(house, "legacy") as client:
        await client.list_tools()
        odd.tools.append({"name": "fresh", "inputSchema": {"type": "object"}})
        text = text_of(await client.call_tool("fresh", {}))
        assert text.startswith("Refused: there is no tool fresh"), "it was asked just before"
        house.clock.ahead_s = AGAIN_S
        assert text_of(await client.call_tool("fresh", {})) == "new"
        assert odd.listed == 2
        await client.call_tool("nothing", {})
    assert odd.listed == 2, "not for each name that there isn't"


async def test_a_tool_that_a_server_adds_in_mid_run_can_be_asked_for(
    house: Door, odd: OddServer
) -> None:
    """By `request_access`, whose list is the run's, too."""
    released = Released(house.connections.providers)
    assert (await released.tool(house.session, "odd", "count")).name == "count"
    odd.tools.append({"name": "fresh", "inputSchema": {"type": "object"}})
    with pytest.raises(NotFound, match="odd has no tool fresh"):  # it was asked just before
        await released.tool(house.session, "odd", "fresh")
    house.clock.ahead_s = AGAIN_S
    assert (await released.tool(house.session, "odd", "fresh")).name == "fresh"
    assert odd.listed == 2


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


async def test_runs_that_are_shown_the_same_tools_share_one_list(
    house: Door, odd: OddServer
) -> None:
    """What is made of a list, such as schemas that were looked at, is made once for all of them."""
    async with client_session() as http:
        servers = [McpServer("odd", odd.url)]
        credentials = VaultServers(house.vault, ClientTokens(house.vault, http, monotonic))
        connection = Connections([], http, credentials, monotonic, servers)["odd"]
        sessions = [replace(house.session, token_sha256=token) for token in "ab"]
        callers = [Caller(each, Exchange("handshake"), _nobody) for each in sessions]
        first, second = [await connection.listed(caller, "tools") for caller in callers]
        await connection.leave(sessions[0])
        await connection.leave(sessions[1])
    assert odd.listed == 2
    assert first is second


async def _nobody(*_: object) -> Decision:
    return Deny("nobody is asked")


async def test_a_server_that_hangs_while_it_lists_delays_nobody_and_is_told_when_it_comes(
    tmp_path: Path, model: ModelServer, odd: OddServer, http: ClientSession
) -> None:
    async with odd_server() as other:
        servers = [McpServer("odd", odd.url), McpServer("other", other.url)]
        limits = Limits(list_patience_s=0.2)
        async with open_door(tmp_path, model, servers=servers, limits=limits) as house:
            house.reopen(tools={"odd": frozenset({"die"}), "other": frozenset({"count"})})
            odd.lists.clear()
            async with asyncio.timeout(10), listening(house, http, "handshake") as stream:
                assert await names(house, http) == ["count"]
                assert await call(house, "count") == ("1", False)
                odd.lists.set()
                assert (await event(stream))["method"] == "notifications/tools/list_changed"
            assert await names(house, http) == ["count", "die"]


async def test_a_server_that_is_away_hides_only_its_own_tools(
    tmp_path: Path, model: ModelServer
) -> None:
    servers = [McpServer("odd", "http://127.0.0.1:9/mcp")]
    async with open_door(tmp_path, model, servers=servers) as house:
        house.reopen(tools={"tracker": frozenset({"get_item"}), **MINE})
        async with mcp_client(house) as client:
            listed = [tool.name for tool in (await client.list_tools()).tools]
            refused = await client.call_tool("count", {})
    assert listed == ["get_item"]
    assert "odd can't be reached" in text_of(refused)
