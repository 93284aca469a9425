"""A request with a secret to a host that does not behave."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import aiohttp
import pytest
from aiohttp import web

from entrance.errors import Malformed, Unavailable
from entrance.vault.credentials import SecretHeaders
from entrance.vault.rest import MAX_ANSWER_BYTES, Asked, Rejected, ask

TOKEN = "ghs_a-token-of-the-tests-0123"
SECRET = SecretHeaders({"authorization": f"Bearer {TOKEN}"}, TOKEN)


@dataclass
class Odd:
    """A server that does what the test says, and what it saw."""

    base: str = ""
    saw: list[str] = field(default_factory=list)
    let_go: asyncio.Event = field(default_factory=asyncio.Event)

    async def hang(self, _: web.Request) -> web.Response:
        await self.let_go.wait()
        return web.Response()

    async def stall(self, request: web.Request) -> web.StreamResponse:
        answer = web.StreamResponse(headers={"Content-Type": "application/json"})
        await answer.prepare(request)
        await answer.write(b'{"a":')
        await self.let_go.wait()
        return answer

    async def cut(self, request: web.Request) -> web.StreamResponse:
        answer = web.StreamResponse(headers={"Content-Length": "100"})
        await answer.prepare(request)
        await answer.write(b"{")
        assert request.transport
        request.transport.close()
        return answer

    async def flood(self, request: web.Request) -> web.StreamResponse:
        answer = web.StreamResponse()
        await answer.prepare(request)
        for _ in range(0, 2 * MAX_ANSWER_BYTES, 1 << 20):
            await answer.write(b" " * (1 << 20))
        return answer

    async def page(self, _: web.Request) -> web.Response:
        return web.Response(text="<html>Log in</html>", content_type="text/html")

    async def redirect(self, _: web.Request) -> web.Response:
        raise web.HTTPFound(f"{self.base}/elsewhere")

    async def elsewhere(self, request: web.Request) -> web.Response:
        self.saw.append(request.headers.get("Authorization", ""))
        return web.json_response({})

    async def echo(self, request: web.Request) -> web.Response:
        shown = request.headers["Authorization"]
        return web.json_response({"message": f"what is {shown}?\x1b[2J\nreally"}, status=400)

    async def spell(self, request: web.Request) -> web.Response:
        shown = "".join(f"\\u{ord(letter):04x}" for letter in request.headers["Authorization"])
        return web.Response(text=f'{{"errors": ["what is {shown}?"]}}', status=400)


@pytest.fixture
async def odd() -> AsyncIterator[Odd]:
    odd = Odd()
    app = web.Application()
    for name in ("hang", "stall", "cut", "flood", "page", "redirect", "elsewhere", "echo", "spell"):
        app.router.add_get(f"/{name}", getattr(odd, name))
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    odd.base = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield odd
    odd.let_go.set()
    await runner.cleanup()


@pytest.mark.parametrize(
    ("way", "kind"),
    [
        pytest.param("hang", Unavailable, id="it never answers"),
        pytest.param("stall", Unavailable, id="it stops in the middle"),
        pytest.param("cut", Unavailable, id="it breaks off"),
        pytest.param("flood", Malformed, id="it does not stop"),
        pytest.param("page", Malformed, id="it answers a page"),
        pytest.param("redirect", Malformed, id="it sends elsewhere"),
        pytest.param("echo", Rejected, id="it tells the token back"),
        pytest.param("spell", Rejected, id="it spells the token out"),
    ],
)
async def test_a_host_that_does_not_behave_is_an_error_without_the_secret(
    odd: Odd, way: str, kind: type[Exception]
) -> None:
    asked = Asked("GET", f"{odd.base}/{way}", "a test", timeout_s=2.0)
    async with aiohttp.ClientSession(trust_env=False) as http:
        with pytest.raises(kind) as caught:
            await ask(http, asked, SECRET)
    assert TOKEN not in str(caught.value)
    assert not set(str(caught.value)) & set("\x1b\n")
    assert not odd.saw, "no redirect is followed with a secret"
