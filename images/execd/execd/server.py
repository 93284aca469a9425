"""Listens; lets in only who shows the token; keeps one kind of client from crowding out another.

The agent can reach this port too, over loopback. It has no token, so all that it could do is open
connections: those from inside the sandbox are counted apart from the runner's, and when there are
too many of one kind the oldest one that has not shown the token is dropped.
"""

import asyncio
import socket
from collections import deque
from dataclasses import dataclass

from execd.answer import Handler
from execd.connection import Connection
from execd.wire import Head

try:  # hmac would load OpenSSL for the sake of this one function
    from _operator import _compare_digest as same
except ImportError:
    from hmac import compare_digest as same  # type: ignore[no-redef]

TOKEN_HEADER = "x-execd-access-token"  # noqa: S105  # the header's name
BACKLOG = 128


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """How many connections are held at a time."""

    from_inside: int = 32
    from_outside: int = 128


class Server:
    """Serves the contract on one socket."""

    def __init__(self, token: str, handle: Handler, limits: ConnectionLimits) -> None:
        self._token = token.encode()
        self._handle = handle
        self._limits = limits
        self._held: dict[bool, deque[Connection]] = {True: deque(), False: deque()}

    async def serve(self, listening: socket.socket) -> None:
        """Serve until cancelled."""
        loop = asyncio.get_running_loop()
        server = await loop.create_server(self._protocol, sock=listening, backlog=BACKLOG)
        async with server:
            await server.serve_forever()

    def trusts(self, head: Head) -> bool:
        """Say whether the token is right, in a time that does not depend on it."""
        shown = head.headers.get(TOKEN_HEADER, "").encode("latin-1", "replace")
        return same(shown, self._token)

    def _protocol(self) -> "ClientProtocol":
        return ClientProtocol(asyncio.StreamReader(limit=2**16), self._accepted)

    async def _accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = Connection(reader, writer, trusts=self.trusts, handle=self._handle)
        protocol = writer.transport.get_protocol()
        if isinstance(protocol, ClientProtocol):
            protocol.serves(connection)
        held = self._held[_from_inside(writer)]
        if self._admit(connection, held, inside=_from_inside(writer)):
            try:
                await connection.serve()
            finally:
                if connection in held:
                    held.remove(connection)

    def _admit(self, connection: Connection, held: deque[Connection], *, inside: bool) -> bool:
        if len(held) >= (self._limits.from_inside if inside else self._limits.from_outside):
            oldest = next((other for other in held if not other.trusted), None)
            if oldest is None:
                connection.drop()
                return False
            held.remove(oldest)  # now: many may come before its end is noticed
            oldest.drop()
        held.append(connection)
        return True


class ClientProtocol(asyncio.StreamReaderProtocol):
    """A stream whose answer is given up as soon as its client hangs up."""

    _connection: Connection | None = None
    _serving: "asyncio.Task[None] | None" = None

    def serves(self, connection: Connection) -> None:
        """Note that the current task answers this client."""
        self._connection = connection
        self._serving = asyncio.current_task()

    def eof_received(self) -> bool | None:
        """Take a client that stops sending while it is being answered as gone."""
        if self._connection is not None and self._connection.streaming:
            self._give_up()
        return super().eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop answering."""
        super().connection_lost(exc)
        self._give_up()

    def _give_up(self) -> None:
        if self._serving is not None:
            self._serving.cancel()


def _from_inside(writer: asyncio.StreamWriter) -> bool:
    peer, own = writer.get_extra_info("peername"), writer.get_extra_info("sockname")
    return bool(peer and own) and is_inside(peer[0], own[0])


def is_inside(peer: str, own: str) -> bool:
    """Say whether a connection comes from this very machine, by its two addresses.

    Any of 127.0.0.0/8 can be bound to, so one loopback end is enough.
    """
    return peer == own or peer.startswith("127.") or own.startswith("127.")
