"""What a server answers to one request: a status, headers, and messages as they come.

The credential is taken out of whatever comes back, before anything of it is read.
"""

import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

import aiohttp
import orjson

from entrance.errors import Forbidden, Malformed, NotFound, Unavailable
from entrance.mcp.connection import Lost, Unreadable
from entrance.mcp.messages import Failure, Json
from entrance.mcp.upstream.events import LARGEST, Event, EventReader, TooLarge
from entrance.vault.credentials import SecretHeaders
from entrance.vault.rest import wait_of

EVENTS = "text/event-stream"
_JSON = "application/json"
_LONGEST_WAIT_S = 30.0
_SENT_BACK = re.compile(r"[\x20-\x7e]{1,1000}")
"""What an event's id may be, to be sent back in a header."""
_NOT_NOW = frozenset({HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE})
NOT_TAKEN = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN})
type Hear = Callable[[Json, "Answer"], Awaitable[Json | Failure | None]]
"""Is told a message, and the answer that it is of; gives the outcome once it has heard enough for one."""


@dataclass
class Answer:
    """An answer, while its request is open."""

    status: int
    headers: Mapping[str, str]
    last_id: str | None = None
    retry_s: float = 1.0
    heard: int = 0
    """So many messages of it were told."""
    response: aiohttp.ClientResponse = field(repr=False, kw_only=True)
    secret: SecretHeaders = field(repr=False, kw_only=True)

    async def tell(self, hear: Hear) -> Json | Failure | None:
        """Have each message heard, until that gives an outcome, or there is no more. Raises: Unreadable."""
        if self.response.content_type != EVENTS:
            whole = await self._whole()
            return await self._told(self.secret.redact_all(whole), hear) if whole else None
        async with aclosing(self.events()) as events:
            async for event in events:
                outcome = await self._told(event.data, hear) if event.data else None
                if outcome is not None:
                    return outcome
        return None

    async def _told(self, data: bytes, hear: Hear) -> Json | Failure | None:
        self.heard += 1
        return await hear(message_of(data), self)

    async def events(self) -> AsyncGenerator[Event]:
        """Each event, until the stream ends. Raises: Unreadable."""
        reader = EventReader()
        async for piece in self.response.content.iter_any():
            for event in _read(reader, piece):
                self._note(event)
                yield Event(self.secret.redact_all(event.data), event.name)

    def require_messages(self) -> None:
        """Let through whatever can hold a message.

        Raises: NotFound when the server has forgotten the session; Unavailable, Forbidden, Lost,
        Malformed by what it says.
        """
        status = self.status
        if status < HTTPStatus.MULTIPLE_CHOICES:
            return
        if status in _NOT_NOW:
            wait_s = wait_of(self.headers)
            raise Unavailable(f"the server is too busy: HTTP {status}", retry_after_s=wait_s)
        if status in NOT_TAKEN:
            raise Forbidden(f"the server doesn't take what it was shown: HTTP {status}")
        if status < HTTPStatus.BAD_REQUEST:
            raise Malformed(f"the server is elsewhere (HTTP {status}): name the place where it is")
        if status == HTTPStatus.NOT_FOUND and self._of_a_session:
            raise NotFound("the server has forgotten the session")
        if self.response.content_type == _JSON:
            return
        if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            raise Lost(f"the server failed: HTTP {status}")
        raise Malformed(f"the server refuses: HTTP {status}")

    @property
    def _of_a_session(self) -> bool:
        return "Mcp-Session-Id" in self.response.request_info.headers

    def _note(self, event: Event) -> None:
        if event.id is not None:
            self.last_id = event.id if _SENT_BACK.fullmatch(event.id) else None
        if event.retry_ms is not None:
            self.retry_s = min(event.retry_ms / 1000, _LONGEST_WAIT_S)

    async def _whole(self) -> bytes:
        parts, size = [], 0
        async for piece in self.response.content.iter_any():
            size += len(piece)
            if size > LARGEST:
                raise Unreadable(f"its answer is larger than {LARGEST >> 20} MB")
            parts.append(piece)
        return b"".join(parts)


def _read(reader: EventReader, piece: bytes) -> list[Event]:
    try:
        return reader.feed(piece)
    except TooLarge as error:
        raise Unreadable(f"an event is larger than {LARGEST >> 20} MB") from error


def message_of(data: bytes) -> dict[str, Any]:
    """One message. Raises: Unreadable."""
    try:
        message = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise Unreadable("its answer is not JSON") from error
    if not isinstance(message, dict):
        raise Unreadable("its answer is no message")
    return message
