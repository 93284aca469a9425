"""A wire to a server: whatever goes to it goes over this, and is noted."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit


class Wire:
    """Passes bytes on, both ways. `sent`: those that went to the server, of all connections."""

    def __init__(self, url: str) -> None:
        self._to = urlsplit(url)
        self.sent = b""
        self.url = ""

    @asynccontextmanager
    async def laid(self) -> AsyncIterator["Wire"]:
        """While the block runs, the server is also at `url`."""
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        self.url = self._to._replace(netloc=f"127.0.0.1:{port}").geturl()
        async with server:
            yield self

    async def _connected(self, near: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        far, on = await asyncio.open_connection(self._to.hostname, self._to.port)
        with suppress(ConnectionError):
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._sent(near, on))
                tasks.create_task(_passed(far, back))

    async def _sent(self, near: asyncio.StreamReader, on: asyncio.StreamWriter) -> None:
        while part := await near.read(1 << 16):
            self.sent += part
            on.write(part)
        on.close()


async def _passed(far: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
    while part := await far.read(1 << 16):
        back.write(part)
    back.close()
