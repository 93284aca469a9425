"""A client of the gateway without the SDK, of either era: what it is told, as it is sent."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Literal

import orjson
from aiohttp import ClientResponse, ClientSession

from tests.servers.door import Door

Era = Literal["handshake", "modern"]
ERAS: list[Era] = ["handshake", "modern"]
EVENTS = {"accept": "application/json, text/event-stream"}
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


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


@asynccontextmanager
async def listening(house: Door, http: ClientSession, era: Era) -> AsyncIterator[ClientResponse]:
    """A client's stream of what it is told about its tools."""
    if era == "handshake":
        headers = await opened(house, http) | EVENTS
        async with http.get(f"{house.url}/mcp", headers=headers) as stream:
            yield stream
        return
    wanted = {"_meta": META, "notifications": {"toolsListChanged": True}}
    body = {"jsonrpc": "2.0", "id": 7, "method": "subscriptions/listen", "params": wanted}
    async with http.post(
        f"{house.url}/mcp", json=body, headers=house.bearer | EVENTS | modern(body)
    ) as stream:
        acknowledged = await event(stream)
        assert acknowledged["params"]["notifications"] == {"toolsListChanged": True}
        yield stream


def modern(body: dict[str, Any]) -> dict[str, str]:
    """The headers that say what a request of 2026-07-28 is about."""
    headers = {"mcp-protocol-version": "2026-07-28", "mcp-method": body["method"]}
    return headers | ({"mcp-name": body["params"]["name"]} if "name" in body["params"] else {})


async def names(house: Door, http: ClientSession, era: Era = "handshake") -> list[str]:
    """The tools that such a client of the run is shown now."""
    body = {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {"_meta": META}}
    headers = house.bearer | (modern(body) if era == "modern" else {})
    async with http.post(f"{house.url}/mcp", json=body, headers=headers) as answer:
        return [tool["name"] for tool in (await answer.json())["result"]["tools"]]
