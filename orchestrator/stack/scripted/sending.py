"""How an answer goes out: whole or streamed, and with what goes wrong on the way."""

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from aiohttp import web

from orchestrator.stack.scripted.scenario import Fail

_NO_JSON = b'{"not": "JSON'


class Cut(Exception):
    """The connection was broken, as told."""


async def whole(
    request: web.Request, body: Mapping[str, Any], headers: Mapping[str, str], fail: Fail | None
) -> web.StreamResponse:
    """Send an answer as one JSON body.

    Raises:
        Cut: as `fail` tells.
    """
    data = json.dumps(body).encode()
    half = len(data) // 2
    pieces = [data] if fail is None else [data[:half], data[half:]]
    response = web.StreamResponse(headers=headers)
    response.content_type = "application/json"
    if fail is not None and fail.how == "garbage":
        pieces = [_NO_JSON]
    response.content_length = 0 if fail and fail.how == "empty" else sum(map(len, pieces))
    return await _send(request, response, pieces, 0.0, fail)


async def stream(
    request: web.Request,
    pieces: Iterator[bytes],
    headers: Mapping[str, str],
    fail: Fail | None,
    stream_s: float,
) -> web.StreamResponse:
    """Send an answer as server-sent events, spread over `stream_s` seconds.

    Raises:
        Cut: as `fail` tells.
    """
    response = web.StreamResponse(headers={"Cache-Control": "no-cache", **headers})
    response.content_type = "text/event-stream"
    response.charset = "utf-8"
    events = list(pieces)
    if fail is not None and fail.how == "garbage":
        events = [*events[: len(events) // 2], b"data: " + _NO_JSON + b"\n\n"]
    return await _send(request, response, events, stream_s / len(events), fail)


async def _send(
    request: web.Request,
    response: web.StreamResponse,
    pieces: Sequence[bytes],
    pause_s: float,
    fail: Fail | None,
) -> web.StreamResponse:
    how = None if fail is None else fail.how
    await response.prepare(request)
    for number, piece in enumerate(() if how == "empty" else pieces):
        if fail is not None and number == len(pieces) // 2:
            await _midway(request, fail)
        await response.write(piece)
        await asyncio.sleep(pause_s)
    await response.write_eof()
    return response


async def _midway(request: web.Request, fail: Fail) -> None:
    """What happens in the middle of the answer."""
    if fail.how == "cut":
        if request.transport is not None:
            request.transport.abort()
        raise Cut
    if fail.how == "stall":
        if fail.stall_s is None:
            await asyncio.Event().wait()  # until the client goes
        else:
            await asyncio.sleep(fail.stall_s)
