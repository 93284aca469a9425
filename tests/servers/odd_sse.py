"""A server of legacy SSE that misbehaves when it is told to."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import orjson
from aiohttp import web

TOOLS = ("count", "cut", "leak", "ask")


@dataclass
class OddSse:
    """What it saw. `token`: what a request must show. `place`: where it says that messages go."""

    url: str = ""
    token: str = ""
    place: str = "/messages/?session_id={id}"
    streams: list[web.Request] = field(default_factory=list)
    """Every stream that was opened; a session's id is its place here."""
    writing: dict[int, web.StreamResponse] = field(default_factory=dict)
    ended: list[int] = field(default_factory=list)
    called: list[str] = field(default_factory=list)
    answers: list[dict[str, Any]] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)
    """The methods of HTTP of the requests that showed the token."""
    forgetful: bool = False

    async def stream(self, request: web.Request) -> web.StreamResponse:
        self._note(request)
        events = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await events.prepare(request)
        number = len(self.streams)
        self.streams.append(request)
        place = self.place.format(id=number)
        await events.write(f"event: endpoint\ndata: {place}\n\n: alive\n\n".encode())
        self.writing[number] = events
        try:
            await asyncio.Event().wait()
        finally:
            self.ended.append(number)
        return events

    async def taken(self, request: web.Request) -> web.Response:
        self._note(request)
        if self.forgetful:
            self.forgetful = False
            return web.Response(status=404, text="Could not find session")
        number = int(request.query["session_id"])
        message = orjson.loads(await request.read())
        if "method" not in message:
            self.answers.append(message)
        elif "id" in message:
            await self._asked(number, message)
        return web.Response(status=202, text="Accepted")

    async def _asked(self, number: int, message: dict[str, Any]) -> None:
        match message["method"]:
            case "initialize":
                result: dict[str, Any] = {
                    "protocolVersion": "2024-11-05",
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "odd", "version": "1"},
                }
            case "tools/list":
                tools = [{"name": one, "inputSchema": {"type": "object"}} for one in TOOLS]
                result = {"tools": tools}
            case _:
                name = message["params"]["name"]
                self.called.append(name)
                result = await self._called(number, name)
        await self._say(number, {"jsonrpc": "2.0", "id": message["id"], "result": result})

    async def _called(self, number: int, name: str) -> dict[str, Any]:
        text = f"{number}: {self.called.count(name)}"
        if name == "leak":
            text = f"my token is {self.token}"
        if name == "ask":
            ask = {"message": "Who?", "requestedSchema": {}}
            await self._say(number, {"id": "q", "method": "elicitation/create", "params": ask})
        if name == "cut":
            self.cut(number)
        return {"content": [{"type": "text", "text": text}]}

    def cut(self, number: int) -> None:
        """End a stream in the middle."""
        transport = self.streams[number].transport
        assert transport is not None
        transport.abort()

    async def _say(self, number: int, message: dict[str, Any]) -> None:
        data = orjson.dumps({"jsonrpc": "2.0", **message})
        with suppress(ConnectionError):  # it was cut
            await self.writing[number].write(b"event: message\ndata: " + data + b"\n\n")

    def _note(self, request: web.Request) -> None:
        if request.headers.get("authorization") == f"Bearer {self.token}":
            self.shown.append(request.method)


@asynccontextmanager
async def odd_sse(token: str = "", place: str = "") -> AsyncIterator[OddSse]:
    """Serves until the block ends."""
    server = OddSse(token=token)
    server.place = place or server.place
    app = web.Application()
    app.add_routes([web.get("/sse", server.stream), web.post("/messages/", server.taken)])
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        server.url = f"http://127.0.0.1:{runner.addresses[0][1]}/sse"
        yield server
    finally:
        await runner.cleanup()
