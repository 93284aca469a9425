"""Reading what a peer sends: heads and bodies, each with a limit and a time."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from typing import Any

from execd.errors import Refused, invalid
from execd.wire import ChunkedBody

READ_BYTES = 64 * 1024
MAX_HEAD = 32 * 1024
MAX_JSON = 4 << 20
STALL_S = 60.0
UNTIL_END = -1


class Inbound:
    """What comes from one peer; what was read too far can be given back."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader
        self._kept = b""

    async def some(self) -> bytes:
        """Return the next bytes; none at the end."""
        if self._kept:
            data, self._kept = self._kept, b""
            return data
        return await self._reader.read(READ_BYTES)

    def give_back(self, data: bytes) -> None:
        """Let `data` be what is read next."""
        self._kept = data + self._kept

    async def head(self) -> bytes | None:
        """Return the next head without its empty line; None when the peer has ended before it.

        Raises: Refused 431 when it is too long.
        """
        data = b""
        while True:
            end = data.find(b"\r\n\r\n")
            if end >= 0:
                self.give_back(data[end + 4 :])
                return data[:end]
            if len(data) > MAX_HEAD:
                raise Refused(431, "HEAD_TOO_LARGE", f"the head is over {MAX_HEAD} bytes")
            more = await self.some()
            if not more:
                return None
            data = (data + more).lstrip(b"\r\n")


class Body:
    """One message's body. `length` in bytes; None is chunked, UNTIL_END is that."""

    def __init__(
        self, inbound: Inbound, length: int | None, before: Callable[[], None] | None = None
    ) -> None:
        self._inbound = inbound
        self._before = before
        self._chunked = ChunkedBody() if length is None else None
        self._left = length or 0
        self.length = length
        self.finished = length == 0

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """Yield the body as it comes.

        Raises: Refused 400 when it ends early, 408 when nothing comes for a minute.
        """
        if self._before is not None and not self.finished:
            self._before()
        while not self.finished:
            data = await self._next()
            if not data and self.length == UNTIL_END:
                self.finished = True
            elif not data:
                raise invalid("the body ended early")
            for piece in self._payload(data):
                yield piece

    def _payload(self, data: bytes) -> list[bytes]:
        """Return what of `data` is the body's; give back what follows it."""
        if self.length == UNTIL_END:
            return [data] if data else []
        if self._chunked is not None:
            pieces = self._chunked.feed(data)
            self.finished = self._chunked.finished
            if self.finished:
                self._inbound.give_back(self._chunked.rest())
            return pieces
        self._inbound.give_back(data[self._left :])
        mine = data[: self._left]
        self._left -= len(mine)
        self.finished = self._left == 0
        return [mine]

    async def read(self, limit: int) -> bytes:
        """Return the whole body. Raises: Refused 413 when it is over `limit` bytes."""
        if self.length is not None and self.length > limit:
            raise Refused(413, "BODY_TOO_LARGE", f"the body is over {limit} bytes")
        pieces, size = [], 0
        async for piece in self.chunks():
            pieces.append(piece)
            size += len(piece)
            if size > limit:
                raise Refused(413, "BODY_TOO_LARGE", f"the body is over {limit} bytes")
        return b"".join(pieces)

    async def json(self) -> Any:
        """Return the body read as JSON; None for an empty one. Raises: Refused 400."""
        raw = await self.read(MAX_JSON)
        if not raw:
            return None
        try:
            return json.loads(raw)
        except (ValueError, RecursionError) as error:
            raise invalid("the body is not JSON") from error

    async def _next(self) -> bytes:
        try:
            async with asyncio.timeout(STALL_S):
                return await self._inbound.some()
        except TimeoutError as error:
            raise Refused(408, "BODY_STALLED", f"nothing came for {STALL_S:.0f} s") from error
