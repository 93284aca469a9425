"""A server that speaks 2026-07-28 and nothing else, keeps what it was sent, and asks when it is told to."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import orjson
from aiohttp import web

from tests.servers.issuer import Issuer

VERSION = "2026-07-28"
STATE = 'opaque {"n": 1}'


@dataclass(frozen=True)
class Seen:
    """A request."""

    method: str
    headers: dict[str, str]
    params: dict[str, Any]


@dataclass
class ModernMcp:
    """What it saw."""

    url: str = ""
    seen: list[Seen] = field(default_factory=list)
    refusals: dict[str, list[list[str]]] = field(default_factory=dict)
    """By method, what it names as its versions when it refuses that one, once for each."""
    asks: dict[str, dict[str, Any]] = field(default_factory=dict)
    """By tool, what it asks before it does anything."""
    issuer: Issuer | None = None
    """Whose tokens it takes; None: it takes anybody."""
    scopes: dict[str, str] = field(default_factory=dict)
    """By tool, the scope that a token needs for it."""
    tools: list[dict[str, Any]] = field(
        default_factory=lambda: [{"name": "act", "inputSchema": {"type": "object"}}]
    )

    @property
    def done(self) -> list[Seen]:
        """The calls that it did."""
        return [one for one in self.seen if one.method == "tools/call" and not self._asks(one)]

    @property
    def methods(self) -> list[str]:
        return [one.method for one in self.seen]

    async def handle(self, request: web.Request) -> web.StreamResponse:
        message = orjson.loads(await request.read())
        headers = {name.lower(): value for name, value in request.headers.items()}
        asked = Seen(message["method"], headers, message.get("params", {}))
        if headers.get("mcp-protocol-version") != VERSION:
            return _refused(message, -32601, "no handshake here", {})
        if why := self._locked(asked):
            status = 403 if "insufficient" in why else 401
            return web.Response(status=status, headers={"www-authenticate": why})
        self.seen.append(asked)
        if named := self.refusals.get(asked.method):
            data = {"supported": named.pop(0), "requested": VERSION}
            return _refused(message, -32022, "Unsupported protocol version", data)
        body = {"jsonrpc": "2.0", "id": message["id"], "result": self._result(asked)}
        return web.json_response(body)

    def _locked(self, asked: Seen) -> str:
        """Why the token isn't enough; empty when it is."""
        if self.issuer is None:
            return ""
        token = asked.headers.get("authorization", "").removeprefix("Bearer ")
        granted = self.issuer.tokens.get(token)
        if granted is None:
            return "Bearer"
        needed = self.scopes.get(asked.params.get("name", ""))
        if needed is None or needed in granted.scopes:
            return ""
        return f'Bearer error="insufficient_scope", scope="{needed}"'

    def _asks(self, asked: Seen) -> bool:
        return asked.params["name"] in self.asks and "inputResponses" not in asked.params

    def _result(self, asked: Seen) -> dict[str, Any]:
        cached = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
        match asked.method:
            case "server/discover":
                return {"supportedVersions": [VERSION], "capabilities": {"tools": {}}, **cached}
            case "tools/list":
                return {"tools": self.tools, **cached}
            case _ if self._asks(asked):
                questions = self.asks[asked.params["name"]]
                return {
                    "resultType": "input_required",
                    "inputRequests": questions,
                    "requestState": STATE,
                }
            case _:
                return {"resultType": "complete", "content": [{"type": "text", "text": "done"}]}


@asynccontextmanager
async def modern_mcp() -> AsyncIterator[ModernMcp]:
    """Serves until the block ends."""
    server = ModernMcp()
    app = web.Application()
    app.router.add_post("/mcp", server.handle)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        server.url = f"http://127.0.0.1:{runner.addresses[0][1]}/mcp"
        yield server
    finally:
        await runner.cleanup()


def _refused(message: dict[str, Any], code: int, why: str, data: dict[str, Any]) -> web.Response:
    error = {"code": code, "message": why, "data": data}
    body = {"jsonrpc": "2.0", "id": message.get("id"), "error": error}
    return web.json_response(body, status=400)
