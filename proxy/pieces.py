"""Larger pieces than mitmproxy's server takes and gives: each goes through all of its layers.

A writer gathers what it is given and sends it in one piece, a head with its body; a reader of a server's
answers takes twice as much at once.
"""

import asyncio
from typing import Any

READ_BYTES = 128 << 10
"""As much as a stream's reader keeps, and less than what may come before some is passed on; see `backlog`."""


class LargeReads:
    """In a stream reader's place, for mitmproxy's server."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader

    async def read(self, _: int) -> bytes:
        """What has come, up to `READ_BYTES`."""
        return await self._reader.read(READ_BYTES)


class Gathered:
    """In a stream writer's place, for mitmproxy's server. What was given is sent by `send` or `drain`."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        self._parts: list[bytes] = []
        self._stopped = False

    @property
    def transport(self) -> asyncio.WriteTransport:
        """The stream's own."""
        return self._writer.transport

    def write(self, data: bytes) -> None:
        """Take it, to be sent."""
        if not self._stopped:
            self._parts.append(data)

    def stop(self) -> None:
        """Send nothing more, of what was gathered neither."""
        self._stopped = True
        self._parts.clear()

    def send(self) -> None:
        """Send what was gathered."""
        if not self._parts:
            return
        data = self._parts[0] if len(self._parts) == 1 else b"".join(self._parts)
        self._parts.clear()
        if not self._writer.is_closing():
            self._writer.write(data)

    async def drain(self) -> None:
        """Send it, and wait while the other side is slow."""
        self.send()
        await self._writer.drain()

    def is_closing(self) -> bool:
        """As the stream's."""
        return self._writer.is_closing()

    def write_eof(self) -> None:
        """As the stream's, after what was gathered."""
        self.send()
        self._writer.write_eof()

    def close(self) -> None:
        """As the stream's, after what was gathered."""
        self.send()
        self._writer.close()

    def get_extra_info(self, name: str) -> Any:
        """As the stream's."""
        return self._writer.get_extra_info(name)
