"""Servers of others that speak 2026-07-28 only, behind the gateway, for clients of both eras."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp import ClientSession

from entrance.ports import McpServer
from entrance.tool_policy import BeyondTools, ConnectionRules, ToolRule
from tests.component.entrance.raw_client import event, opened
from tests.component.entrance.test_mcp import MODES, Mode, mcp_client
from tests.component.entrance.test_mcp_servers import asked, call
from tests.servers.anthropic import ModelServer
from tests.servers.door import Door, open_door
from tests.servers.modern_mcp import STATE, VERSION, ModernMcp, modern_mcp

WHO = {
    "who": {
        "method": "elicitation/create",
        "params": {"mode": "form", "message": "Who?", "requestedSchema": {"type": "object"}},
    }
}
MODEL = {"model": {"method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 1}}}
PREFIX = "io.modelcontextprotocol"


@pytest.fixture
async def server() -> AsyncIterator[ModernMcp]:
    async with modern_mcp() as one:
        yield one


@pytest.fixture
async def house(tmp_path: Path, model: ModelServer, server: ModernMcp) -> AsyncIterator[Door]:
    async with open_door(tmp_path, model, servers=[McpServer("new", server.url)]) as opened:
        opened.reopen(tools={"new": frozenset({"act", "bad"})})
        yield opened


@pytest.mark.parametrize("mode", MODES)
async def test_every_request_says_its_version_and_who_asks(
    house: Door, server: ModernMcp, mode: Mode
) -> None:
    assert await call(house, "act", mode) == ("done", False)
    for one in server.seen:
        meta = one.params["_meta"]
        assert one.headers["mcp-protocol-version"] == meta[f"{PREFIX}/protocolVersion"] == VERSION
        assert one.headers["mcp-method"] == one.method
        assert meta[f"{PREFIX}/clientInfo"]["name"] == "sandgate"
        assert meta[f"{PREFIX}/clientCapabilities"] == {}


@pytest.mark.parametrize("mode", MODES)
async def test_a_server_that_refuses_the_version_and_yet_names_it_is_asked_once_more(
    house: Door, server: ModernMcp, mode: Mode
) -> None:
    server.refusals = {"server/discover": [[VERSION]]}
    assert await call(house, "act", mode) == ("done", False)
    assert server.methods[:2] == ["server/discover", "server/discover"]


async def test_a_server_that_refuses_the_version_all_of_a_sudden_is_looked_at_anew(
    house: Door, server: ModernMcp
) -> None:
    """It has taken nothing: what was asked for is done once."""
    assert await call(house, "act") == ("done", False)
    server.refusals = {"tools/call": [["2027-01-01"]]}
    assert await call(house, "act") == ("done", False)
    assert server.methods[-3:] == ["tools/call", "server/discover", "tools/call"]


async def test_a_server_that_speaks_no_version_of_ours_fails_in_words(
    house: Door, server: ModernMcp
) -> None:
    server.refusals = {"server/discover": [["2027-01-01"]] * 20}
    text, is_error = await call(house, "act")
    assert is_error
    assert "new can't be reached" in text
    assert set(server.methods) == {"server/discover"}


@pytest.mark.parametrize("mode", MODES)
async def test_what_may_not_be_asked_is_declined_and_the_call_goes_on(
    house: Door, server: ModernMcp, mode: Mode
) -> None:
    server.asks = {"act": WHO}
    assert await call(house, "act", mode) == ("done", False)
    [done] = server.done
    assert done.params["inputResponses"] == {"who": {"action": "decline"}}
    assert done.params["requestState"] == STATE
    [line] = [each for each in house.lines("request") if "asks" in each["subject"]]
    assert (line["decision"], line["door"]) == ("deny", "mcp")


@pytest.mark.parametrize("mode", MODES)
async def test_what_can_not_be_declined_ends_the_call(
    house: Door, server: ModernMcp, mode: Mode
) -> None:
    server.asks = {"act": MODEL}
    text, is_error = await call(house, "act", mode)
    assert is_error
    assert "was not granted" in text
    assert not server.done


async def test_a_client_of_the_handshake_era_answers_in_its_own_way(
    house: Door, server: ModernMcp, http: ClientSession
) -> None:
    server.asks = {"act": WHO}
    asks = BeyondTools(asks=frozenset({"elicitation"}))
    house.reopen(tool_rules={"new": ConnectionRules({"act": ToolRule()}, more=asks)})
    headers = await opened(house, http, {"elicitation": {}})
    told = {"action": "accept", "content": {"name": "me"}}
    async with asked(house, http, "act", headers) as answer:
        question = await event(answer)
        assert question["params"]["message"] == "Who?"
        reply = {"jsonrpc": "2.0", "id": question["id"], "result": told}
        async with http.post(f"{house.url}/mcp", json=reply, headers=headers) as taken:
            assert taken.status == 202
        assert (await event(answer))["result"]["content"][0]["text"] == "done"
    [done] = server.done
    assert done.params["inputResponses"] == {"who": told}
    assert done.params["_meta"][f"{PREFIX}/clientCapabilities"] == {"elicitation": {}}


@pytest.mark.parametrize("mode", MODES)
async def test_arguments_are_repeated_in_headers_and_a_tool_that_wants_bad_ones_is_left_out(
    house: Door, server: ModernMcp, mode: Mode
) -> None:
    server.tools = [
        _tool("act", region={"type": "string", "x-mcp-header": "Region"}),
        _tool("bad", region={"type": "string", "x-mcp-header": "Re:gion"}),
    ]
    async with mcp_client(house, mode) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == ["act"]
        await client.call_tool("act", {"region": "Zürich"})
    [done] = server.done
    assert done.headers["mcp-param-region"] == "=?base64?WsO8cmljaA==?="
    assert done.headers["mcp-name"] == "act"


def _tool(name: str, **properties: object) -> dict[str, object]:
    return {"name": name, "inputSchema": {"type": "object", "properties": properties}}
