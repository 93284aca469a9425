"""How an answer goes out: whole or streamed, and with what goes wrong on the way."""

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from orchestrator.stack.scripted.dialects.wire import Piece
from orchestrator.stack.scripted.scenario import Fail

_NO_JSON = b'{"not": "JSON'
_ARRIVES_S = 0.05
"""What went out shall have been read before the connection breaks, or it is lost with it."""


class Cut(Exception):
    """The connection was broken, as told."""


@dataclass(slots=True)
class Delivery:
    """How an answer is to go out, and how far it got: true at any moment, also when the client leaves."""

    fail: Fail | None
    stream_s: float
    """A streamed answer is spread over so many seconds."""
    begun: bool = False
    """Its status went out."""
    said: int = 0
    """Bytes of the model's words and arguments that went out in a stream."""
    whole: bool = False


async def whole(
    request: web.Request,
    body: Mapping[str, Any],
    headers: Mapping[str, str],
    delivery: Delivery,
) -> web.StreamResponse:
    """Send an answer as one JSON body.

    Raises:
        Cut: as the delivery's `fail` tells.
    """
    data, fail = json.dumps(body).encode(), delivery.fail
    half = len(data) // 2
    pieces = [data] if fail is None else [data[:half], data[half:]]
    response = web.StreamResponse(headers=headers)
    response.content_type = "application/json"
    if fail is not None and fail.how == "garbage":
        pieces = [_NO_JSON]
    response.content_length = 0 if fail and fail.how == "empty" else sum(map(len, pieces))
    return await _send(request, response, [*map(Piece, pieces)], delivery, pause_s=0.0)


async def stream(
    request: web.Request,
    pieces: Iterator[Piece],
    headers: Mapping[str, str],
    delivery: Delivery,
) -> web.StreamResponse:
    """Send an answer as server-sent events.

    Raises:
        Cut: as the delivery's `fail` tells.
    """
    response = web.StreamResponse(headers={"Cache-Control": "no-cache", **headers})
    response.content_type = "text/event-stream"
    response.charset = "utf-8"
    events = list(pieces)
    if delivery.fail is not None and delivery.fail.how == "garbage":
        events = [*events[: _middle(events)], Piece(b"data: " + _NO_JSON + b"\n\n")]
    pause_s = delivery.stream_s / len(events)
    return await _send(request, response, events, delivery, pause_s=pause_s)


async def _send(
    request: web.Request,
    response: web.StreamResponse,
    pieces: Sequence[Piece],
    delivery: Delivery,
    *,
    pause_s: float,
) -> web.StreamResponse:
    fail = delivery.fail
    how = None if fail is None else fail.how
    middle = _middle(pieces)
    await response.prepare(request)
    delivery.begun = True
    for number, piece in enumerate(() if how == "empty" else pieces):
        if fail is not None and number == middle:
            await _midway(request, fail)
        await response.write(piece.data)
        delivery.said += piece.said
        await asyncio.sleep(pause_s)
    await response.write_eof()
    delivery.whole = how in {None, "stall"}
    return response


def _middle(pieces: Sequence[Piece]) -> int:
    """Where half of the words are said; of an answer in one word, after it."""
    said, all_of_it = 0, sum(piece.said for piece in pieces)
    for number, piece in enumerate(pieces):
        said += piece.said
        if said and 2 * said >= all_of_it:
            return number + 1
    return len(pieces) // 2


async def _midway(request: web.Request, fail: Fail) -> None:
    """What happens in the middle of the answer."""
    if fail.how == "cut":
        await asyncio.sleep(_ARRIVES_S)
        if request.transport is not None:
            request.transport.abort()
        raise Cut
    if fail.how == "stall":
        if fail.stall_s is None:
            await asyncio.Event().wait()  # until the client goes
        else:
            await asyncio.sleep(fail.stall_s)
