"""A web server beyond this machine: every request is answered and counted by the last part of its path."""

import asyncio
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

from tests.e2e.completeness.load import HOST
from tests.servers.certificates import WebAuthority
from tests.servers.namespaces import beyond

NETWORK = "198.51.100.0/24"
"""One that documentation owns (RFC 5737)."""
PORTS = {80: False, 443: True}
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\nContent-Type: text/plain\r\n\r\ncounted"


@dataclass
class Canary:
    """What came, in order: the attempt and when."""

    address: str
    hits: list[tuple[str, datetime]] = field(default_factory=list)
    connections: set[asyncio.WriteTransport] = field(default_factory=set)

    def came(self, head: bytes) -> None:
        """A request."""
        target = head.split(b" ", 2)[1].decode()
        at = datetime.now(UTC)  # noqa: TID251 - it is compared with the log's
        self.hits.append((target.rpartition("/")[2], at))


class _Serving(asyncio.Protocol):
    def __init__(self, canary: Canary) -> None:
        self._canary = canary
        self._read = b""
        self._transport: asyncio.WriteTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.WriteTransport)
        self._transport = transport
        self._canary.connections.add(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        del exc
        if self._transport is not None:
            self._canary.connections.discard(self._transport)

    def data_received(self, data: bytes) -> None:
        self._read += data
        while b"\r\n\r\n" in self._read and self._transport is not None:
            head, _, self._read = self._read.partition(b"\r\n\r\n")
            self._canary.came(head)
            self._transport.write(ANSWER)


@contextmanager
def canary(interface: str, web: WebAuthority) -> Iterator[Canary]:
    """One that listens, at the end of the cable `interface`. Needs root."""
    with beyond(interface, NETWORK) as (space, address):
        counting, loop = Canary(address), asyncio.new_event_loop()
        thread = threading.Thread(target=loop.run_forever, name="canary", daemon=True)
        thread.start()
        context, servers = web.context([HOST]), list[asyncio.Server]()
        try:
            for port, in_tls in PORTS.items():
                with space.entered():
                    sock = socket.create_server((address, port))
                serving = loop.create_server(
                    lambda: _Serving(counting), sock=sock, ssl=context if in_tls else None
                )
                servers.append(asyncio.run_coroutine_threadsafe(serving, loop).result(10))
            yield counting
        finally:
            asyncio.run_coroutine_threadsafe(_ended(servers, counting), loop).result(10)
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()


async def _ended(servers: Sequence[asyncio.Server], canary: Canary) -> None:
    for server in servers:
        server.close()
    for connection in tuple(canary.connections):
        connection.abort()
    for server in servers:
        await server.wait_closed()
