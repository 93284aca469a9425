"""Somebody between the door and the host, who passes on all but the answers to pushes as they are."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace

import aiohttp
from aiohttp import hdrs, web

from entrance.session import RepoGrant
from tests.servers.git import Door

NAME = "odd/small.git"
Meddle = Callable[[web.Request, bytes], Awaitable[web.StreamResponse]]
"""Given a push that the host has answered so, the answer that the door gets."""
_PASSED = (hdrs.CONTENT_TYPE, hdrs.AUTHORIZATION, "Git-Protocol")


@asynccontextmanager
async def meddling(at_door: Door, meddle: Meddle, *, passes_on: bool = True) -> AsyncIterator[str]:
    """The run's repository `NAME` is served in this way; its URL at the door.

    Unless it `passes_on`, no push reaches the host.
    """
    async with aiohttp.ClientSession() as http:

        async def serve(request: web.Request) -> web.StreamResponse:
            body = await request.read()
            pushes = request.path.endswith("/git-receive-pack")
            if pushes and not passes_on:
                return await meddle(request, b"")
            sent = {name: request.headers[name] for name in _PASSED if name in request.headers}
            url = f"{at_door.host}{request.path_qs}"
            async with http.request(request.method, url, data=body, headers=sent) as answer:
                said = await answer.read()
                kind = {hdrs.CONTENT_TYPE: answer.headers[hdrs.CONTENT_TYPE]}
            if pushes:
                return await meddle(request, said)
            return web.Response(body=said, headers=kind)

        app = web.Application(client_max_size=1 << 30)
        app.router.add_route("*", "/{path:.*}", serve)
        runner = web.AppRunner(app, handler_cancellation=True, access_log=None)
        await runner.setup()
        try:
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            place = f"http://127.0.0.1:{runner.addresses[0][1]}/small.git"
            grant = RepoGrant(NAME, place, push=True, credential="host")
            at_door.registry.open(replace(at_door.session, repositories=(grant,)))
            yield at_door.url(NAME)
        finally:
            await runner.cleanup()


def result(data: bytes, *, then: Callable[[web.Request], Awaitable[None]]) -> Meddle:
    """An answer that begins with this, and then goes on as `then` says."""

    async def meddle(request: web.Request, said: bytes) -> web.StreamResponse:
        response = web.StreamResponse(
            headers={hdrs.CONTENT_TYPE: "application/x-git-receive-pack-result"}
        )
        await response.prepare(request)
        await response.write(data or said[: len(said) // 2])
        await then(request)
        return response

    return meddle


async def hang_up(request: web.Request) -> None:
    """The connection is dropped."""
    assert request.transport is not None
    request.transport.abort()


async def hang_up_at_once(request: web.Request, _: bytes) -> web.StreamResponse:
    """Not a byte is answered."""
    await hang_up(request)
    return web.StreamResponse()
