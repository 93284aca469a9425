"""A server that answers as OpenSandbox and execd do, as a test tells it to."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from orchestrator.adapters.opensandbox.execd import CURSOR, RUNNING, Execd
from orchestrator.adapters.opensandbox.http import Server


@dataclass
class Sandbox:
    """What the far side has: one command's log in pages, its status, and how it misbehaves."""

    lines: list[str] = field(default_factory=list)
    page_lines: int = 1000
    status: Mapping[str, Any] = field(default_factory=lambda: {"running": True})
    says_running: str | None = None
    """What it says with a page of the log."""
    asked_status: int = 0
    stream: bytes = b""
    file: bytes = b""
    uploaded: dict[str, bytes] = field(default_factory=dict)
    cut_off: bool = False
    orders: list[Any] = field(default_factory=list)
    over: asyncio.Event = field(default_factory=asyncio.Event)

    def app(self) -> web.Application:
        app = web.Application()
        execd = "/v1/sandboxes/s1/proxy/44772"
        app.router.add_get("/health", self._ok)
        app.router.add_post("/v1/sandboxes", self._hang)
        app.router.add_get(f"{execd}/ping", self._ok)
        app.router.add_get(f"{execd}/command/status/c1", self._status)
        app.router.add_get(f"{execd}/command/c1/logs", self._logs)
        app.router.add_post(f"{execd}/command", self._run)
        app.router.add_get(f"{execd}/files/download", self._download)
        app.router.add_post(f"{execd}/files/upload", self._upload)
        return app

    async def _ok(self, request: web.Request) -> web.Response:
        del request
        return web.Response()

    async def _hang(self, request: web.Request) -> web.Response:
        await self.over.wait()
        return await self._ok(request)

    async def _status(self, request: web.Request) -> web.Response:
        del request
        self.asked_status += 1
        return web.json_response(self.status)

    async def _logs(self, request: web.Request) -> web.Response:
        cursor = int(request.query["cursor"])
        page = self.lines[cursor + 1 : cursor + 1 + self.page_lines]
        headers = {CURSOR: str(cursor + len(page))}
        if self.says_running is not None:
            headers[RUNNING] = self.says_running
        return web.Response(text="".join(f"{line}\n" for line in page), headers=headers)

    async def _run(self, request: web.Request) -> web.StreamResponse:
        self.orders.append(await request.json())
        if request.headers.get("X-EXECD-ACCESS-TOKEN") != "token":
            return web.json_response({"code": "UNAUTHORIZED", "message": "no"}, status=401)
        answer = web.StreamResponse()
        await answer.prepare(request)
        await answer.write(self.stream)
        if self.cut_off and request.transport is not None:
            request.transport.abort()
        return answer

    async def _download(self, request: web.Request) -> web.Response:
        del request
        return web.Response(body=self.file)

    async def _upload(self, request: web.Request) -> web.Response:
        async for part in await request.multipart():
            assert isinstance(part, aiohttp.BodyPartReader)
            self.uploaded[part.name or ""] = bytes(await part.read())
        return web.Response()


@pytest.fixture
def far() -> Sandbox:
    return Sandbox()


@pytest.fixture
async def server(far: Sandbox) -> AsyncIterator[Server]:
    runner = web.AppRunner(far.app())
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    async with aiohttp.ClientSession() as session:
        yield Server(session, f"http://{host}:{port}", "key")
    far.over.set()
    await runner.cleanup()


@pytest.fixture
def execd(server: Server) -> Execd:
    return Execd(server, "s1", "token")
