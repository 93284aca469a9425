"""Legacy SSE (2024-11-05): a stream of events, and the place that it names for messages.

The place must be where the stream is: the same scheme, host and port. The vault judges it besides.
"""

import re
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from http import HTTPStatus
from urllib.parse import urljoin, urlsplit

from entrance.errors import Malformed, NotFound
from entrance.mcp.connection import Lost
from entrance.mcp.messages import Json
from entrance.mcp.upstream.answer import EVENTS, message_of
from entrance.mcp.upstream.channel import OpenChannel
from entrance.mcp.upstream.endpoint import Endpoint, Outgoing
from entrance.mcp.upstream.events import Event
from entrance.session import Session

_PLACE = re.compile(r"[!-~]{1,2000}")


class SseChannel:
    """Implements `channel.Channel`."""

    def __init__(self, endpoint: Endpoint, place: str, events: AsyncGenerator[Event]) -> None:
        self._endpoint = endpoint
        self._place = place
        self._events = events

    async def send(self, message: Json) -> None:
        async with self._endpoint.open(Outgoing("POST", {}, message, self._place)) as answer:
            if answer.status == HTTPStatus.NOT_FOUND:
                raise NotFound("the server has forgotten the session")
            answer.require_messages()
            if answer.status >= HTTPStatus.BAD_REQUEST:
                raise Malformed(f"the server refuses: HTTP {answer.status}")

    async def messages(self) -> AsyncGenerator[Json]:
        async for event in self._events:
            if event.name == "message" and event.data:
                yield message_of(event.data)
        raise Lost("the server ended its stream")


def over_sse(endpoint: Endpoint) -> OpenChannel:
    """Opens channels at an endpoint."""

    @asynccontextmanager
    async def opening(_: Session) -> AsyncIterator[SseChannel]:
        async with endpoint.open(Outgoing("GET", {"Accept": EVENTS})) as answer:
            answer.require_messages()
            if answer.response.content_type != EVENTS:
                raise Malformed("the server has no stream of events there")
            async with aclosing(answer.events()) as events:
                yield SseChannel(endpoint, await _place_in(events, endpoint.url), events)

    return opening


async def _place_in(events: AsyncGenerator[Event], url: str) -> str:
    async for event in events:
        if event.name == "endpoint":
            return place_of(event.data, url)
    raise Malformed("the server doesn't say where it takes messages")


def place_of(told: bytes, url: str) -> str:
    """Where messages go. Raises: Malformed when that is not where the stream at `url` is."""
    reference = told.decode("utf-8", "replace")
    try:
        place = urljoin(url, reference)
        theirs, ours = urlsplit(place), urlsplit(url)
        same = (theirs.scheme, theirs.netloc) == (ours.scheme, ours.netloc)
    except ValueError:
        same, place = False, ""
    if not same or not _PLACE.fullmatch(place):
        raise Malformed("the server wants messages sent to another place than its own")
    return place
