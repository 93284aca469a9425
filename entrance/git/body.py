"""The body of a request from a sandbox: bounded in size, in memory and in patience."""

import asyncio
import zlib
from collections.abc import AsyncIterator
from http import HTTPStatus

from aiohttp import hdrs, web

from entrance.log.body_hash import BodyHash

CHUNK_BYTES = 1 << 18
_GZIP = 31  # zlib's word for: a gzip header, the largest window


class BodyError(Exception):
    """The body can't be taken. `status` is the HTTP status that says so."""

    def __init__(self, status: HTTPStatus, message: str) -> None:
        super().__init__(message)
        self.status = status


class RequestBody:
    """Read in chunks of at most `CHUNK_BYTES`, gzip undone.

    `limit_bytes` counts what is given out; `idle_s` is the longest wait for the client's next
    bytes. The server must not inflate by itself (`auto_decompress=False`).
    """

    def __init__(self, request: web.Request, *, limit_bytes: int, idle_s: float) -> None:
        self._content = request.content
        self._limit = limit_bytes
        self._idle_s = idle_s
        self._given = 0
        self._pending = b""
        self.sent = BodyHash()
        """The body as it came over the wire."""
        encoding = request.headers.get(hdrs.CONTENT_ENCODING, "identity").lower()
        if encoding not in {"identity", "gzip", "x-gzip"}:
            raise BodyError(
                HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "only gzip is taken as a Content-Encoding"
            )
        self._gzip = zlib.decompressobj(_GZIP) if encoding != "identity" else None
        self.refused: BodyError | None = None
        """The refusal that a reader of this body met; whoever only sees its effect looks here."""

    async def read(self) -> bytes:
        """The next bytes; empty at the end. Raises: BodyError."""
        try:
            chunk = await self._next()
        except BodyError as refused:
            self.refused = refused
            raise
        return chunk

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while chunk := await self.read():
            yield chunk

    async def drain(self, limit_bytes: int) -> bool:
        """Read what is left, as it comes, and forget it: a client that is still sending may not
        see an early answer. False when it was more than `limit_bytes`, or did not come in time."""
        left = limit_bytes
        while left > 0:
            try:
                chunk = await self._receive()
            except BodyError:
                return False
            if not chunk:
                return True
            left -= len(chunk)
        return False

    async def _next(self) -> bytes:
        chunk = await (self._receive() if self._gzip is None else self._inflated(self._gzip))
        self._given += len(chunk)
        if self._given > self._limit:
            raise BodyError(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"the request is over {self._limit} bytes"
            )
        return chunk

    async def _inflated(self, gzip: "zlib._Decompress") -> bytes:
        while not gzip.eof:
            raw = self._pending or await self._receive()
            try:
                chunk = gzip.decompress(raw, CHUNK_BYTES)
            except zlib.error as error:
                raise BodyError(HTTPStatus.BAD_REQUEST, "the body is no gzip") from error
            self._pending = gzip.unconsumed_tail
            if chunk:
                return chunk
            if not raw and not gzip.eof:
                raise BodyError(HTTPStatus.BAD_REQUEST, "the gzip body breaks off")
        if gzip.unused_data or await self._receive():
            raise BodyError(HTTPStatus.BAD_REQUEST, "data follows the gzip body")
        return b""

    async def _receive(self) -> bytes:
        try:
            async with asyncio.timeout(self._idle_s):
                chunk = await self._content.read(CHUNK_BYTES)
        except TimeoutError as error:
            raise BodyError(
                HTTPStatus.REQUEST_TIMEOUT, f"nothing came for {self._idle_s:g} seconds"
            ) from error
        except (ConnectionError, web.RequestPayloadError) as error:
            raise BodyError(HTTPStatus.BAD_REQUEST, "the request breaks off") from error
        self.sent.feed(chunk)
        return chunk
