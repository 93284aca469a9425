"""A server that does as it should, until it is told in bytes what to answer."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import orjson

from tests.component.entrance.raw_client import Era

GOOD = {"content": [{"type": "text", "text": "done"}], "isError": False}
_JSON = "Content-Type: application/json"


@dataclass(frozen=True)
class Seen:
    """A request: its first line, its headers, what it says."""

    line: str
    headers: dict[str, str]
    message: dict[str, Any]

    @property
    def id(self) -> object:
        return self.message.get("id")


type Say = Callable[[Seen, asyncio.StreamWriter], Any]
"""Answers a request; what it returns is awaited."""


@dataclass
class HostileServer:
    """What it saw. `greets`, `lists` and `says`: its answers to `initialize`, for its tools and to calls."""

    era: Era
    url: str = ""
    seen: list[Seen] = field(default_factory=list)
    greets: Say | None = None
    lists: Say | None = None
    says: Say | None = None
    left: int = 0
    """How many answers nobody heard to their end."""

    @property
    def calls(self) -> int:
        return sum(one.message.get("method") == "tools/call" for one in self.seen)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection: one request."""
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            asked = await _read(reader)
            self.seen.append(asked)
            say = {
                "initialize": self.greets,
                "tools/list": self.lists,
                "tools/call": self.says,
            }
            answer = say.get(str(asked.message.get("method"))) or self._properly
            try:
                await answer(asked, writer)
                await writer.drain()
            except ConnectionError:
                self.left += 1
        writer.close()

    async def _properly(self, asked: Seen, writer: asyncio.StreamWriter) -> None:
        result: dict[str, Any]
        match asked.message.get("method"):
            case "initialize":
                result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}}
            case "server/discover" if self.era == "modern":
                result = {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}
            case "tools/list":
                result = {"tools": [{"name": "act", "inputSchema": {"type": "object"}}]}
            case "tools/call":
                result = GOOD
            case _:
                writer.write(whole("", status=400 if "id" in asked.message else 202))
                return
        writer.write(whole(answer_to(asked, result), _JSON, "Mcp-Session-Id: s-1"))


def answer_to(asked: Seen, result: object, **more: object) -> bytes:
    """A result, as JSON; `id` may be another."""
    return orjson.dumps({"jsonrpc": "2.0", "id": asked.id, "result": result} | more)


def whole(body: bytes | str, *headers: str, status: int = 200, length: int | None = None) -> bytes:
    """A whole answer, as it is sent."""
    body = body.encode() if isinstance(body, str) else body
    told = (*headers, f"Content-Length: {len(body) if length is None else length}")
    head = "\r\n".join((f"HTTP/1.1 {status} Whatever", *told, "Connection: close", "", ""))
    return head.encode("latin-1") + body


async def _read(reader: asyncio.StreamReader) -> Seen:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    fields = (line.split(": ", 1) for line in head[1:] if line)
    headers = {name.lower(): value for name, value in fields}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Seen(head[0], headers, orjson.loads(body) if body else {})


@asynccontextmanager
async def hostile_server(era: Era) -> AsyncIterator[HostileServer]:
    """Serves until the block ends."""
    server = HostileServer(era)
    listener = await asyncio.start_server(server.serve, "127.0.0.1", 0, limit=1 << 20)
    host, port = listener.sockets[0].getsockname()[:2]
    server.url = f"http://{host}:{port}/mcp"
    try:
        yield server
    finally:
        listener.close()
