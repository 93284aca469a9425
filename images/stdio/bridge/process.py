"""The server's process: lines of JSON out of it and into it, its words on stderr, its end.

What it says on stdout and is no message is passed to our own stderr, as all that it says on its own.
"""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

LINE_BYTES = 32 << 20
"""Of a message. A longer one is left out."""
READ_BYTES = 1 << 16
LOGGED_BYTES = 1 << 20
"""So much of what it says is passed on to our stderr."""
TAIL_BYTES = 2000
GRACE_S = 2.0
"""So long it may take to end by itself, and again after SIGTERM."""
LOOK_S = 0.1
Json = Mapping[str, Any]


class Log:
    """What processes say besides messages: its beginning on our stderr, its end at hand."""

    def __init__(self) -> None:
        self._left = LOGGED_BYTES
        self.tail = b""

    def add(self, said: bytes) -> None:
        """They said something."""
        self.tail = (self.tail + said)[-TAIL_BYTES:]
        if self._left <= 0:
            return
        sys.stderr.buffer.write(said[: self._left])
        self._left -= len(said)
        if self._left <= 0:
            sys.stderr.buffer.write(b"\n[more was said, and is left out]\n")
        sys.stderr.buffer.flush()


class Process:
    """One process of the server; `heard` is told each message, `over` that it has ended."""

    def __init__(
        self,
        log: Log,
        heard: Callable[[Json], Awaitable[None]],
        over: Callable[[], Awaitable[None]],
    ) -> None:
        self._log = log
        self._heard = heard
        self._over = over
        self._process: asyncio.subprocess.Process | None = None
        self._following: asyncio.Future[None] | None = None
        self.ended = ""
        """How it ended, in words; empty while it runs."""

    async def start(self, argv: Sequence[str]) -> None:
        """Start it. One that can't be started has ended."""
        pipe = asyncio.subprocess.PIPE
        try:
            process = await asyncio.create_subprocess_exec(
                *argv, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True
            )
        except OSError as error:
            await self._end(f"it can't be started: {error.strerror}")
            return
        self._process = process
        self._following = asyncio.ensure_future(self._followed(process))

    async def send(self, message: Json) -> None:
        """Hand it a message. One that has ended takes none, and that was told to `over`."""
        if self._process is None or self._process.stdin is None:
            return
        with suppress(OSError):
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            await self._process.stdin.drain()

    async def end(self) -> None:
        """Have it end: its input is over, then SIGTERM, then SIGKILL, to all that it started."""
        if self._process is None or self._process.stdin is None:
            return
        self._process.stdin.close()
        if await self._ends():
            return
        _signal(self._process.pid, signal.SIGTERM)
        if not await self._ends():
            _signal(self._process.pid, signal.SIGKILL)

    async def _ends(self) -> bool:
        """Whether it ends in time."""
        assert self._following is not None  # noqa: S101 - whoever has a process follows it
        done, _ = await asyncio.wait({self._following}, timeout=GRACE_S)
        return bool(done)

    async def _followed(self, process: asyncio.subprocess.Process) -> None:
        """Hear it out. What it leaves behind ends with it, and so does one that closes its output."""
        assert process.stdout is not None  # noqa: S101 - they are pipes
        assert process.stderr is not None  # noqa: S101
        telling = asyncio.ensure_future(self._messages(process.stdout))
        words = asyncio.ensure_future(self._words(process.stderr))
        while process.returncode is None and not telling.done():
            await asyncio.wait({telling}, timeout=LOOK_S)
        if process.returncode is None:
            await self._in_time(asyncio.ensure_future(process.wait()))
        _signal(process.pid, signal.SIGKILL)
        code = await process.wait()
        await self._in_time(telling)
        await self._in_time(words)
        await self._end(f"it ended with exit code {code if code >= 0 else 128 - code}")

    async def _in_time(self, future: "asyncio.Future[Any]") -> None:
        await asyncio.wait({future}, timeout=GRACE_S)
        future.cancel()

    async def _words(self, stderr: asyncio.StreamReader) -> None:
        while said := await stderr.read(READ_BYTES):
            self._log.add(said)

    async def _messages(self, stdout: asyncio.StreamReader) -> None:
        rest, skipping = bytearray(), False
        while data := await stdout.read(READ_BYTES):
            *lines, last = data.split(b"\n")
            for line in lines:
                rest += line
                if not skipping and len(rest) <= LINE_BYTES:
                    await self._line(bytes(rest))
                rest, skipping = bytearray(), False
            rest += last
            if len(rest) > LINE_BYTES:
                if not skipping:
                    self._log.add(b"[a message is too long, and is left out]\n")
                rest, skipping = bytearray(), True

    async def _line(self, line: bytes) -> None:
        try:
            said: Any = json.loads(line) if line.strip() else []
        except (ValueError, RecursionError):
            said = None
        messages = said if isinstance(said, list) else [said]
        if all(isinstance(message, dict) for message in messages):
            for message in messages:
                await self._heard(message)
        else:
            self._log.add(b"[on stdout, and no message] " + line[:TAIL_BYTES] + b"\n")

    async def _end(self, how: str) -> None:
        self.ended = how
        await self._over()


def _signal(pid: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)
