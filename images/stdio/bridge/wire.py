"""HTTP/1.1, as far as execd speaks it to us: one request a connection, an answer that may be a stream."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

HEAD_BYTES = 64 << 10
BODY_BYTES = 32 << 20
READ_S = 30.0
STALL_S = 60.0
"""Who takes nothing for so long is gone."""
ALIVE_S = 15.0
OURS = "Sandgate-Bridge: 1"
"""On every answer: by it the door tells ours from those of proxies on the way."""
Json = Mapping[str, Any]


class BadRequest(Exception):
    """What came can't be read, in a sentence."""


@dataclass(frozen=True)
class Request:
    """A request; names of headers are in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


async def read(reader: asyncio.StreamReader) -> Request:
    """The request. Raises: BadRequest; EOFError, OSError, TimeoutError when it does not come."""
    async with asyncio.timeout(READ_S):
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        except asyncio.LimitOverrunError as error:
            raise BadRequest("the head is too long") from error
        first, *lines = head[:-4].split("\r\n")
        method, _, rest = first.partition(" ")
        pairs = (line.partition(":") for line in lines)
        headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
        body = await _body(reader, headers)
    return Request(method, rest.partition(" ")[0].partition("?")[0], headers, body)


async def _body(reader: asyncio.StreamReader, headers: Mapping[str, str]) -> bytes:
    if headers.get("transfer-encoding", "").lower() == "chunked":
        return await _chunks(reader)
    return await reader.readexactly(_size(headers.get("content-length") or "0", 10))


async def _chunks(reader: asyncio.StreamReader) -> bytes:
    body = bytearray()
    while size := _size((await reader.readline()).partition(b";")[0].decode("latin-1"), 16):
        if len(body) + size > BODY_BYTES:
            raise BadRequest("the body is too long")
        body += await reader.readexactly(size)
        await reader.readexactly(2)
    await reader.readuntil(b"\r\n")
    return bytes(body)


def _size(text: str, base: int) -> int:
    try:
        size = int(text, base)
    except ValueError as error:
        raise BadRequest("a length is no number") from error
    if not 0 <= size <= BODY_BYTES:
        raise BadRequest("the body is too long")
    return size


def answer(status: int, said: Json | None = None) -> bytes:
    """A whole answer."""
    body = b"" if said is None else json.dumps(said).encode()
    head = f"HTTP/1.1 {status} -\r\n{OURS}\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body


class Events:
    """An answer that is a stream of events, until it is closed."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._closed = asyncio.Event()

    def begin(self, headers: Mapping[str, str]) -> None:
        """Send the head."""
        told = {"Content-Type": "text/event-stream", "Cache-Control": "no-cache", **headers}
        lines = [f"{name}: {value}\r\n" for name, value in told.items()]
        head = f"HTTP/1.1 200 -\r\n{OURS}\r\n{''.join(lines)}Connection: close\r\n\r\n"
        self._writer.write(head.encode())

    async def tell(self, message: Json) -> None:
        """Send a message, and wait until there is room for the next one."""
        await self._send(b"data: " + json.dumps(message).encode() + b"\n\n")

    def close(self) -> None:
        """Nothing more comes."""
        self._closed.set()

    async def until_closed(self) -> bool:
        """Keep it alive. True once we have closed it, False when the other side has gone."""
        gone = asyncio.ensure_future(self._reader.read(1))
        closed = asyncio.ensure_future(self._closed.wait())
        try:
            while not closed.done() and not gone.done():
                done, _ = await asyncio.wait(
                    {gone, closed}, timeout=ALIVE_S, return_when=asyncio.FIRST_COMPLETED
                )
                if not done:
                    await self._send(b":\n\n")
            return closed.done()
        finally:
            for waiting in (gone, closed):
                waiting.cancel()
            await asyncio.wait({gone, closed})

    async def _send(self, data: bytes) -> None:
        if self._writer.is_closing():
            return
        self._writer.write(data)
        try:
            async with asyncio.timeout(STALL_S):
                await self._writer.drain()
        except (OSError, TimeoutError):
            self._writer.transport.abort()
