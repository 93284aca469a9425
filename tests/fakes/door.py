"""An entrance for the native loop: the scripted model and a few tools, with outages on demand."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from orchestrator.stack.scripted import make_app, parse

TOKEN = "sgr_test"
PROVIDERS = ("anthropic", "openai", "google", "house")

type Fault = Callable[[web.Request], Awaitable[web.StreamResponse]]


def scenario(steps: str) -> str:
    """A scenario of one conversation; each step is indented by six."""
    return f"scenario: 1\nconversations:\n  - name: a\n    steps:\n{steps}"


def status(code: int, message: str = "told to", **headers: str) -> Fault:
    """A fault: an error as the entrance says it."""

    async def fail(_: web.Request) -> web.StreamResponse:
        body = {"type": "error", "error": {"type": "permission_error", "message": message}}
        return web.json_response(body, status=code, headers=headers)

    return fail


async def break_off(request: web.Request) -> web.StreamResponse:
    """A fault: the request arrives, then the connection breaks."""
    await request.read()
    assert request.transport is not None
    request.transport.abort()
    return web.Response()


async def hang(_: web.Request) -> web.StreamResponse:
    """A fault: no answer."""
    await asyncio.sleep(3600)
    return web.Response()


@dataclass
class Door:
    """What it was asked, and what it shall do next. `faults`: one a request, by path, first in first out."""

    scenario: str
    modern: bool = True
    offers: bool = True
    port: int = 0
    faults: dict[str, list[Fault]] = field(default_factory=dict)
    called: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list)
    results: dict[str, Any] = field(default_factory=dict)
    requests: list[tuple[str, Mapping[str, str]]] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Listen; a second time on the same port."""
        app = web.Application(middlewares=[self._middleware], client_max_size=64 << 20)
        app.router.add_post("/mcp", self._mcp)
        for provider in PROVIDERS:
            app.add_subapp(f"/model/{provider}", make_app(parse(self.scenario), TOKEN))
        runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", self.port).start()
        self.port = runner.addresses[0][1]
        try:
            yield
        finally:
            await runner.cleanup()

    @web.middleware
    async def _middleware(
        self, request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        path = "/mcp" if request.path == "/mcp" else "/model"
        self.requests.append((path, dict(request.headers)))
        if faults := self.faults.get(path):
            return await faults.pop(0)(request)
        return await handler(request)

    async def _mcp(self, request: web.Request) -> web.StreamResponse:
        if request.headers.get("Authorization") != f"Bearer {TOKEN}":
            return web.json_response({"error": {"message": "who are you?"}}, status=401)
        message = await request.json()
        if "id" not in message:
            return web.Response(status=202)
        if faults := self.faults.get(message["method"]):
            return await faults.pop(0)(request)
        answer = {"jsonrpc": "2.0", "id": message["id"], **self._answer(message)}
        if self.modern:
            return web.json_response(answer)
        text = f"event: message\ndata: {json.dumps(answer)}\n\n"
        return web.Response(text=text, content_type="text/event-stream")

    def _answer(self, message: Mapping[str, Any]) -> dict[str, Any]:
        match message["method"]:
            case "server/discover" if self.modern:
                return {
                    "result": {
                        "supportedVersions": ["2026-07-28"],
                        "instructions": "One door only.",
                    }
                }
            case "initialize" if not self.modern:
                return {
                    "result": {"protocolVersion": "2025-11-25", "instructions": "One door only."}
                }
            case "tools/list":
                return {"result": self._page(message["params"].get("cursor"))}
            case "tools/call":
                return self._call(message["params"]["name"], message["params"]["arguments"])
            case _:
                return {"error": {"code": -32601, "message": "Method not found"}}

    def _page(self, cursor: str | None) -> dict[str, Any]:
        """Two pages, so that a client that reads only one is found out."""
        if not self.offers:
            return {"tools": []}
        names = ["submit_for_approval", "ask_questions"] if cursor else ["get_task", "add_comment"]
        tools = [
            {"name": name, "description": name, "inputSchema": {"type": "object"}} for name in names
        ]
        return {"tools": tools} if cursor else {"tools": tools, "nextCursor": "2"}

    def _call(self, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        self.called.append((name, arguments))
        content = self.results.get(name, f"{name} done")
        if content is None:
            return {"error": {"code": -32602, "message": f"{name} was not granted"}}
        if isinstance(content, str):
            content = [{"type": "text", "text": content}]
        return {"result": {"content": content, "isError": False}}
