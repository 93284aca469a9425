"""The MCP gateway with the real MCP SDK as its client."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any, Literal

import httpx2
import mcp_types
import pytest
from aiohttp import ClientSession
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from entrance.ports import ToolResult
from entrance.session import RunId, hash_token, new_run_token
from tests.fakes.tools import FakeTools
from tests.servers.anthropic import ModelServer
from tests.servers.door import Door, open_door
from tests.waiting import until

Mode = Literal["auto", "legacy", "2026-07-28"]
MODES: list[Mode] = ["auto", "legacy", "2026-07-28"]


@asynccontextmanager
async def mcp_client(door: Door, mode: Mode = "auto") -> AsyncIterator[Client]:
    async with httpx2.AsyncClient(headers=door.bearer, timeout=20) as http:
        transport = streamable_http_client(f"{door.url}/mcp", http_client=http)
        async with Client(transport, mode=mode) as client:
            yield client


def text_of(result: mcp_types.CallToolResult) -> str:
    [content] = result.content
    assert isinstance(content, mcp_types.TextContent)
    return content.text


@pytest.mark.parametrize("mode", MODES)
async def test_clients_of_both_eras_see_the_granted_tools_and_call_them(
    door: Door, mode: Mode
) -> None:
    """CASE-70: both work on one path."""
    async with mcp_client(door, mode) as client:
        listed = await client.list_tools()
        result = await client.call_tool("get_item", {"key": "T-1"})
    assert [tool.name for tool in listed.tools] == ["get_item"]
    assert listed.tools[0].input_schema["required"] == ["key"]
    assert (text_of(result), result.is_error) == ("done", False)
    assert door.tools.calls == [("get_item", {"key": "T-1"})]


async def test_a_call_is_on_record_before_and_after(door: Door) -> None:
    async with mcp_client(door) as client:
        await client.call_tool("get_item", {"key": "T-1"})
    [decided], [came] = door.lines("tool_call"), door.lines("outcome")
    assert (decided["subject"], decided["decision"]) == ("tracker/get_item", "allow")
    assert len(decided["detail"]["arguments_sha256"]) == 64
    assert decided["cause"]["tool"] == "get_item"
    assert decided["cause"]["call"]
    assert (came["of"], came["result"]) == (decided["seq"], "ok")
    assert came["detail"]["touched"] == ["T-1"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["delete_item", "no_such_tool"])
async def test_a_tool_that_was_not_granted_is_refused_in_words_and_not_called(
    door: Door, mode: Mode, name: str
) -> None:
    async with mcp_client(door, mode) as client:
        await client.list_tools()
        result = await client.call_tool(name, {})
    assert result.is_error
    assert "Refused" in text_of(result)
    assert "get_item" in text_of(result), "it says what may be called"
    assert not door.tools.calls
    assert [line["decision"] for line in door.lines("tool_call")] == ["deny"]


async def test_bad_arguments_are_told_and_not_passed_on(door: Door) -> None:
    async with mcp_client(door) as client:
        result = await client.call_tool("get_item", {"kee": "T-1"})
    assert result.is_error
    assert "kee" in text_of(result) or "key" in text_of(result)
    assert not door.tools.calls
    assert door.lines("outcome")[0]["result"] == "bad_arguments"


async def test_a_very_long_result_is_cut_with_a_clear_mark(door: Door) -> None:
    """CASE-69: a result of 10 MB is bounded."""
    door.tools.answer = ToolResult("x" * 10_000_000)
    async with mcp_client(door) as client:
        result = await client.call_tool("get_item", {"key": "T-1"})
    assert len(text_of(result)) < 101_000
    assert "cut here by Sandgate: 36000 of 10000000" in text_of(result)


async def test_a_connection_that_is_down_is_a_result_not_a_crash(door: Door) -> None:
    async with mcp_client(door) as client:
        door.tools.down = True
        result = await client.call_tool("get_item", {"key": "T-1"})
    assert result.is_error
    assert "can't be reached" in text_of(result)


async def test_two_connections_with_one_tool_name_are_told_apart(
    tmp_path: Path, model: ModelServer
) -> None:
    """CASE-65: unique names."""
    wiki = FakeTools("wiki", answer=ToolResult("from the wiki"))
    async with open_door(tmp_path, model, more=[wiki]) as door:
        both = frozenset({"get_item"})
        door.reopen(tools={"tracker": both, "wiki": both})
        async with mcp_client(door) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            result = await client.call_tool("wiki_get_item", {"key": "T-1"})
    assert names == ["tracker_get_item", "wiki_get_item"]
    assert text_of(result) == "from the wiki"


async def test_a_client_that_leaves_in_mid_call_is_on_record(
    door: Door, http: ClientSession
) -> None:
    door.tools.hangs = True
    async with asyncio.TaskGroup() as tasks:
        calling = tasks.create_task(raw_call(http, door))
        await until(lambda: bool(door.tools.calls))
        calling.cancel()
    await until(lambda: bool(door.lines("outcome")))
    assert door.lines("outcome")[0]["result"] == "cancelled"


async def raw_call(http: ClientSession, door: Door) -> dict[str, Any]:
    params = {"name": "get_item", "arguments": {"key": "T-1"}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    async with http.post(f"{door.url}/mcp", json=body, headers=door.bearer) as answer:
        data: dict[str, Any] = await answer.json()
        return data


@pytest.mark.parametrize("method", ["GET", "DELETE"])
async def test_outside_of_a_session_there_is_no_stream(
    door: Door, http: ClientSession, method: str
) -> None:
    async with http.request(method, f"{door.url}/mcp", headers=door.bearer) as answer:
        assert (answer.status, answer.headers["allow"]) == (405, "POST")


@pytest.mark.parametrize(
    "told", [{"origin": "http://evil.example"}, {"host": "evil.example"}, {"host": "127.0.0.1@x"}]
)
async def test_a_page_that_was_rebound_to_this_address_is_refused(
    door: Door, http: ClientSession, told: dict[str, str]
) -> None:
    async with http.post(f"{door.url}/mcp", json={}, headers=door.bearer | told) as answer:
        assert answer.status == 403
        assert (await answer.json())["error"]["code"] == -32600
    assert door.lines("request")[0]["decision"] == "deny"


async def test_an_oversized_message_is_refused(door: Door, http: ClientSession) -> None:
    body = BytesIO(b" " * ((4 << 20) + 1))
    async with http.post(f"{door.url}/mcp", data=body, headers=door.bearer) as answer:
        assert answer.status == 413


async def initialized(
    door: Door, http: ClientSession, capabilities: object = None
) -> dict[str, str]:
    """The headers of a new session."""
    params = {"protocolVersion": "2025-06-18", "capabilities": capabilities or {}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    async with http.post(f"{door.url}/mcp", json=body, headers=door.bearer) as answer:
        assert answer.status == 200
        assert (await answer.json())["result"]["protocolVersion"] == "2025-06-18"
        return door.bearer | {"mcp-session-id": answer.headers["mcp-session-id"]}


PING = {"jsonrpc": "2.0", "id": 2, "method": "ping"}


async def test_a_session_ends_with_delete_and_is_then_unknown(
    door: Door, http: ClientSession
) -> None:
    """CASE-68, at our side."""
    headers = await initialized(door, http)
    async with http.post(f"{door.url}/mcp", json=PING, headers=headers) as answer:
        assert await answer.json() == {"jsonrpc": "2.0", "id": 2, "result": {}}
    async with http.delete(f"{door.url}/mcp", headers=headers) as answer:
        assert answer.status == 200
    for ask in (http.post, http.get, http.delete):
        async with ask(f"{door.url}/mcp", json=PING, headers=headers) as answer:
            assert answer.status == 404


async def test_a_session_goes_on_though_its_first_connection_is_closed(door: Door) -> None:
    """CASE-64: nothing is to be begun anew."""
    async with ClientSession() as first:
        headers = await initialized(door, first)
    async with ClientSession() as second:
        for _ in range(2):
            async with second.post(f"{door.url}/mcp", json=PING, headers=headers) as answer:
                assert await answer.json() == {"jsonrpc": "2.0", "id": 2, "result": {}}


async def test_a_session_of_another_run_is_unknown(door: Door, http: ClientSession) -> None:
    headers = await initialized(door, http)
    token = new_run_token()
    other = replace(door.session, run=RunId("other"), token_sha256=hash_token(token))
    door.registry.open(other)
    theirs = headers | {"authorization": f"Bearer {token}"}
    async with http.post(f"{door.url}/mcp", json=PING, headers=theirs) as answer:
        assert answer.status == 404


async def test_a_session_outlives_a_restart_of_the_door(
    door: Door, tmp_path: Path, model: ModelServer, http: ClientSession
) -> None:
    """The agent in the sandbox goes on; it is not asked to begin anew."""
    headers = await initialized(door, http)
    (tmp_path / "again").mkdir()
    async with open_door(tmp_path / "again", model) as again:
        again.registry.close(again.session.run)
        again.registry.open(door.session)
        async with http.post(f"{again.url}/mcp", json=PING, headers=headers) as answer:
            assert answer.status == 200


async def test_a_bug_is_a_500_without_details_and_the_call_is_on_record(
    door: Door, http: ClientSession, capfd: pytest.CaptureFixture[str]
) -> None:
    door.tools.crashes = True
    params = {"name": "get_item", "arguments": {"key": "T-1"}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    async with http.post(f"{door.url}/mcp", json=body, headers=door.bearer) as answer:
        said = await answer.text()
    assert answer.status == 500
    assert "bug" not in said
    logged = capfd.readouterr().out
    assert "a bug of ours" in logged
    assert door.token not in logged
    assert door.lines("outcome")[0]["result"] == "crashed"


async def test_when_nothing_can_be_listed_the_client_is_told_why(
    door: Door, http: ClientSession
) -> None:
    door.tools.down = True
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    async with http.post(f"{door.url}/mcp", json=body, headers=door.bearer) as answer:
        error = (await answer.json())["error"]
    assert error["code"] == -32603
    assert "tracker can't be reached" in error["message"]


async def test_a_notification_is_taken_without_an_answer(door: Door, http: ClientSession) -> None:
    body = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    async with http.post(f"{door.url}/mcp", json=body, headers=door.bearer) as answer:
        assert (answer.status, await answer.read()) == (202, b"")


async def test_a_packed_body_is_not_taken(door: Door, http: ClientSession) -> None:
    headers = door.bearer | {"content-encoding": "gzip"}
    async with http.post(f"{door.url}/mcp", data=b"\x1f\x8b", headers=headers) as answer:
        assert answer.status == 415


async def test_a_door_that_closes_ends_the_streams_of_its_clients(
    tmp_path: Path, model: ModelServer, http: ClientSession
) -> None:
    """A restart of the runner waits for nobody."""
    async with open_door(tmp_path, model) as door:
        headers = await initialized(door, http) | {"accept": "text/event-stream"}
        stream = await http.get(f"{door.url}/mcp", headers=headers)
        assert stream.status == 200
        assert await stream.content.readline() == b": alive\n"
    assert await stream.read() == b"\n"
    stream.release()
