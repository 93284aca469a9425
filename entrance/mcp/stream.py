"""The answer to a request, as JSON or as a stream of events, whichever what happens asks for.

A request that is answered at once is answered in JSON. As soon as something is to be told before,
or nothing has happened for a while, it becomes a stream: what is told arrives at once (CASE-66),
and no proxy in between takes the silence for the end.
"""

import asyncio
from collections.abc import Awaitable, Callable

from aiohttp import hdrs, web

from entrance.mcp.exchange import QUIET_S, Exchange
from entrance.mcp.messages import Json, Reply, as_bytes

_EVENTS = "text/event-stream"


def takes_events(request: web.Request) -> bool:
    """Whether the client says that it reads events."""
    return _EVENTS in request.headers.get(hdrs.ACCEPT, "")


class Events:
    """A stream of events to a client; it begins with the first one."""

    def __init__(self, request: web.Request) -> None:
        self._request = request
        self._response: web.StreamResponse | None = None

    @property
    def begun(self) -> bool:
        return self._response is not None

    async def send(self, message: Json) -> None:
        await self._write(b"event: message\ndata: " + as_bytes(message) + b"\n\n")

    async def keep_alive(self) -> None:
        await self._write(b": alive\n\n")

    async def end(self) -> web.StreamResponse:
        """The response, ended. It must have begun."""
        response = self._response or await self._begin()
        await response.write_eof()
        return response

    async def _write(self, data: bytes) -> None:
        response = self._response or await self._begin()
        await response.write(data)

    async def _begin(self) -> web.StreamResponse:
        headers = {hdrs.CACHE_CONTROL: "no-store", "X-Accel-Buffering": "no"}
        response = web.StreamResponse(headers=headers)
        response.content_type = _EVENTS
        self._response = response
        await response.prepare(self._request)
        return response


async def respond(
    request: web.Request, exchange: Exchange, work: Callable[[], Awaitable[Reply]], withdrawn: Reply
) -> web.StreamResponse:
    """Do the work and answer with what comes of it; `withdrawn` when the client cancelled it.

    Raises: what the work raises, as long as nothing was sent.
    """
    events = Events(request)
    try:
        async with asyncio.TaskGroup() as tasks:
            reply = await exchange.work(
                work, lambda: tasks.create_task(relay(events, exchange)), withdrawn
            )
    except BaseExceptionGroup as group:
        raise group.exceptions[0] from group
    if not events.begun:
        return as_response(reply)
    if reply.body is not None:
        await events.send(reply.body)
    return await events.end()


async def relay(events: Events, exchange: Exchange) -> None:
    """Send what is told, until there is no more; that there is nothing yet, at once."""
    if exchange.outbox.empty():
        await events.keep_alive()
    while True:
        try:
            async with asyncio.timeout(QUIET_S):
                message = await exchange.outbox.get()
        except TimeoutError:
            await events.keep_alive()
            continue
        if message is None:
            return
        await events.send(message)


def as_response(reply: Reply) -> web.Response:
    """A reply that needs no stream."""
    headers = {"Mcp-Session-Id": reply.session} if reply.session else None
    if reply.body is None:
        return web.Response(status=reply.status, headers=headers)
    return web.Response(
        status=reply.status,
        body=as_bytes(reply.body),
        content_type="application/json",
        headers=headers,
    )
