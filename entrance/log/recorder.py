"""The socket at which the egress proxy hands in what it decides: it can append, and nothing else.

The proxy parses hostile bytes, so it is a process of its own, and is not believed more than it must
be: whose attempt it was is looked up by the address, its records are those of the egress door, and
it says what came of its own decisions only.
"""

import asyncio
import socket
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import structlog

from entrance.errors import Unavailable
from entrance.log.egress_log import EgressLog
from entrance.log.records import Decided
from entrance.log.wire import LINE_BYTES, Refused, Said, read, recorded, refused
from entrance.ports import Addresses

log = structlog.get_logger()

UNANSWERED = 4096
UNANSWERED_BYTES = 16 << 20
"""So many lines and bytes of one connection may wait for the disk; more are not read meanwhile."""

CONNECTIONS = 16
"""The proxy has one, and for a moment a second; a broken one takes no more of our files."""


class Recorder:
    """Serves the wire of `wire` at a Unix socket that only its owner may connect to."""

    def __init__(
        self,
        egress_log: EgressLog,
        addresses: Addresses,
        told: Callable[[Decided], None] = lambda _: None,
    ) -> None:
        """`told` hears of each decision that is on its way to the disk; it may not wait."""
        self._log = egress_log
        self._addresses = addresses
        self._told = told
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.StreamWriter] = set()

    async def open(self, path: Path) -> None:
        """Serve at `path` from now on; a socket that was left there is replaced. Raises: Unavailable."""
        try:
            listening = _bound(path)
        except OSError as error:
            raise Unavailable(f"the recorder can't listen at {path}: {error}") from error
        self._server = await asyncio.start_unix_server(
            self._connected, sock=listening, limit=LINE_BYTES
        )

    async def close(self) -> None:
        """Nothing is taken any more; what was taken gets to the disk, answered or not. Idempotent."""
        server, self._server = self._server, None
        if server is not None:
            server.close()
            for writer in tuple(self._connections):
                writer.close()
            await server.wait_closed()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._connections) >= CONNECTIONS:
            writer.transport.abort()
            return
        self._connections.add(writer)
        try:
            await self._converse(reader, writer)
        except asyncio.LimitOverrunError:
            writer.write(refused(None, f"a line has at most {LINE_BYTES} bytes"))
            log.warning("recorder_line_too_long")
        except ConnectionError:
            pass
        finally:
            self._connections.discard(writer)
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        room = _Room()
        with suppress(asyncio.IncompleteReadError):  # the end, in the middle of a line or not
            while line := await reader.readuntil():
                await room.take(len(line))
                self._take(line, writer, room)
                await writer.drain()

    def _take(self, line: bytes, writer: asyncio.StreamWriter, room: "_Room") -> None:
        try:
            said = read(line)
            seq = self._append(said)
        except Refused as error:
            room.give_back(len(line))
            writer.write(refused(error.id, str(error)))
            log.warning("recorder_line_refused", error=str(error))
        else:
            seq.add_done_callback(partial(room.give_back, len(line)))
            seq.add_done_callback(partial(_answer, said.id, writer))

    def _append(self, said: Said) -> "asyncio.Future[int]":
        if said.decided is not None:
            record = said.decided.record(self._addresses)
            seq = self._log.deciding(record)
            self._told(record)
            return seq
        if said.outcome is None or not self._log.may_end(said.outcome.of, "egress"):
            raise Refused("of: there is no such open decision of the egress proxy", said.id)
        return self._log.ending(said.outcome.record())


class _Room:
    """What of one connection waits for the disk. One task takes."""

    def __init__(self) -> None:
        self._lines = self._bytes = 0
        self._left = asyncio.Event()

    async def take(self, number: int) -> None:
        """Let a line of so many bytes in, once not too much waits before it."""
        while self._lines >= UNANSWERED or self._bytes >= UNANSWERED_BYTES:
            self._left.clear()
            await self._left.wait()
        self._lines += 1
        self._bytes += number

    def give_back(self, number: int, _over: object = None) -> None:
        """It waits no more."""
        self._lines -= 1
        self._bytes -= number
        self._left.set()


def _answer(number: int, writer: asyncio.StreamWriter, seq: "asyncio.Future[int]") -> None:
    error = seq.exception()
    if writer.is_closing():
        return
    writer.write(recorded(number, seq.result()) if error is None else refused(number, str(error)))


def _bound(path: Path) -> socket.socket:
    """A socket at `path`, mode 0600 before anybody can connect to it. Raises: OSError."""
    aside = path.with_name(f".{path.name}")
    aside.unlink(missing_ok=True)
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listening.bind(str(aside))
        aside.chmod(0o600)
        aside.rename(path)
    except OSError:
        listening.close()
        raise
    listening.settimeout(0)
    return listening
