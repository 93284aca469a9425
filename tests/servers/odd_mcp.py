"""A server of the handshake era that remembers its sessions, and misbehaves when it is told to."""

import asyncio
import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import orjson
from aiohttp import web

from tests.waiting import until

TOOLS = ("count", "die", "hang", "steps", "ask", "leak")


def _set() -> asyncio.Event:
    event = asyncio.Event()
    event.set()
    return event


@dataclass
class OddServer:
    """What it saw. `token`: what a request must show."""

    url: str = ""
    token: str = ""
    counts: dict[str, int] = field(default_factory=dict)
    """How often `count` was called, by session."""
    ended: list[str] = field(default_factory=list)
    """Sessions that were ended by DELETE."""
    called: list[str] = field(default_factory=list)
    notices: list[dict[str, Any]] = field(default_factory=list)
    answers: list[dict[str, Any]] = field(default_factory=list)
    listed: int = 0
    lists: asyncio.Event = field(default_factory=_set)
    """While it is clear, whoever wants a list waits."""
    tools: list[dict[str, Any]] = field(default_factory=lambda: [_tool(name) for name in TOOLS])
    results: dict[str, dict[str, Any]] = field(default_factory=dict)
    """What a tool answers instead of what it does."""
    go_on: asyncio.Event = field(default_factory=asyncio.Event)
    streams: list[web.StreamResponse] = field(default_factory=list)
    _ids: Any = field(default_factory=lambda: itertools.count(1))

    def forget(self) -> None:
        """Lose every session, as after a restart."""
        self.counts.clear()

    async def handle(self, request: web.Request) -> web.StreamResponse:
        if self.token and request.headers.get("authorization") != f"Bearer {self.token}":
            return web.Response(status=401)
        if request.headers.get("mcp-protocol-version", "").startswith("2026"):
            return web.Response(status=400, text="no such version")
        return await self._of_session(request)

    async def _of_session(self, request: web.Request) -> web.StreamResponse:
        session = request.headers.get("mcp-session-id", "")
        if request.method == "DELETE":
            self.ended.append(session)
            self.counts.pop(session, None)
            return web.Response(status=204)
        if request.method == "GET":
            return await self._stream(request)
        message = orjson.loads(await request.read())
        if message.get("method") == "initialize":
            session = f"s-{next(self._ids)}"
            self.counts[session] = 0
            result = {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {"listChanged": True}},
                "serverInfo": {"name": "odd", "version": "1"},
            }
            greeting = _json(message, result, {"mcp-session-id": session})
            greeting.force_close()  # whoever needs that connection again must notice
            return greeting
        if session not in self.counts:
            return web.Response(status=404)
        return await self._said(request, message, session)

    async def _said(
        self, request: web.Request, message: dict[str, Any], session: str
    ) -> web.StreamResponse:
        if "method" not in message:
            self.answers.append(message)
            self.go_on.set()
            return web.Response(status=202)
        if "id" not in message:
            self.notices.append(message)
            return web.Response(status=202)
        if message["method"] == "tools/list":
            self.listed += 1
            await self.lists.wait()
            return _json(message, {"tools": self.tools})
        return await self._call(request, message, session)

    async def _call(
        self, request: web.Request, message: dict[str, Any], session: str
    ) -> web.StreamResponse:
        name = message["params"]["name"]
        self.called.append(name)
        if name in self.results:
            return _json(message, self.results[name])
        match name:
            case "count":
                self.counts[session] += 1
                return _json(message, _text(str(self.counts[session])))
            case "leak":
                return _json(message, _text(f"my token is {self.token}"))
            case "die":
                assert request.transport is not None
                request.transport.abort()
                return web.Response()
            case "hang":
                await asyncio.Event().wait()
            case _:
                pass
        events = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await events.prepare(request)
        if name == "steps":
            token = message["params"]["_meta"]["progressToken"]
            await _event(events, _progress(token))
            await self.go_on.wait()
        else:
            await _event(events, {"jsonrpc": "2.0", "id": "q1", "method": "elicitation/create",
                                  "params": {"message": "Who?", "requestedSchema": {}}})  # fmt: skip
            await self.go_on.wait()
        await _event(events, {"jsonrpc": "2.0", "id": message["id"], "result": _text("done")})
        return events

    async def _stream(self, request: web.Request) -> web.StreamResponse:
        events = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await events.prepare(request)
        self.streams.append(events)
        await asyncio.Event().wait()
        return events

    async def tell_change(self) -> None:
        """Tell on the first open stream that the tools have changed."""
        await until(lambda: bool(self.streams))
        told = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
        await _event(self.streams[0], told)


@asynccontextmanager
async def odd_server(token: str = "") -> AsyncIterator[OddServer]:
    """Serves until the block ends."""
    server = OddServer(token=token)
    app = web.Application()
    app.router.add_route("*", "/mcp", server.handle)
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        server.url = f"http://127.0.0.1:{runner.addresses[0][1]}/mcp"
        yield server
    finally:
        await runner.cleanup()


def _tool(name: str) -> dict[str, Any]:
    return {"name": name, "description": name, "inputSchema": {"type": "object"}}


def _text(words: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": words}], "isError": False}


def _progress(token: object) -> dict[str, Any]:
    params = {"progressToken": token, "progress": 1, "total": 2}
    return {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}


def _json(
    message: dict[str, Any], result: object, headers: dict[str, str] | None = None
) -> web.Response:
    body = {"jsonrpc": "2.0", "id": message["id"], "result": result}
    return web.json_response(body, headers=headers)


async def _event(events: web.StreamResponse, message: dict[str, Any]) -> None:
    await events.write(b"data: " + orjson.dumps(message) + b"\n\n")
