"""Where a command's output goes: to a waiting client (`Outbox`) or into a log (`LogSink`)."""

import asyncio
from collections import deque
from typing import Protocol

from execd.log import CommandLog

OUTBOX_BYTES = 256 * 1024


class Sink(Protocol):
    """Takes the output of one command."""

    @property
    def full(self) -> bool:
        """Say whether to stop reading for now."""

    def feed(self, stream: str, data: bytes) -> None:
        """Take output of `stream` (stdout, stderr)."""

    def end(self) -> None:
        """Learn that there won't be more."""


class LogSink:
    """Writes both streams to a log, in the order in which they came."""

    full = False

    def __init__(self, log: CommandLog) -> None:
        self._log = log

    def feed(self, stream: str, data: bytes) -> None:  # noqa: ARG002  # one log for both
        self._log.append(data)

    def end(self) -> None:
        self._log.seal()


class Outbox:
    """Holds output until the client has taken what came before. A slow client slows the command."""

    def __init__(self) -> None:
        self._waiting: deque[tuple[str, bytes]] = deque()
        self._size = 0
        self._ended = False
        self._news = asyncio.Event()

    @property
    def full(self) -> bool:
        return self._size > OUTBOX_BYTES

    def feed(self, stream: str, data: bytes) -> None:
        self._waiting.append((stream, data))
        self._size += len(data)
        self._news.set()

    def end(self) -> None:
        self._ended = True
        self._news.set()

    async def take(self) -> tuple[str, bytes] | None:
        """Wait for the next output; None when there is none to come."""
        while not self._waiting:
            if self._ended:
                return None
            self._news.clear()
            await self._news.wait()
        stream, data = self._waiting.popleft()
        self._size -= len(data)
        return stream, data
