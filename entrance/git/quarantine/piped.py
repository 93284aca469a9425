"""A child process whose pipes the loop reads and writes, begun without stopping the loop.

The loop's own way to begin one copies this process first, which takes milliseconds in which nobody is
served; Python's, in a thread, doesn't.
"""

import asyncio
import os
import signal
import subprocess
from asyncio import StreamReader, StreamReaderProtocol, StreamWriter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Self

PIECE_BYTES = 1 << 16
PIPE_BYTES = 1 << 20
"""So much may wait in a pipe: the less often do a process and its reader wait for each other."""


class _Pipe(StreamReaderProtocol):
    """Knows when its pipe is closed."""

    def __init__(self, reader: StreamReader) -> None:
        super().__init__(reader)
        self.lost = asyncio.Event()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self.lost.set()


class Piped:
    """A process, the leader of a group of its own. `given`: None when it is given nothing."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self.pid = process.pid
        self.given: StreamWriter | None = None
        self.out = StreamReader(limit=PIECE_BYTES)
        self.errors = StreamReader(limit=PIECE_BYTES)
        self._process = process
        self._pipes: list[tuple[asyncio.BaseTransport, _Pipe]] = []

    @classmethod
    async def begun(cls, argv: Sequence[str], env: Mapping[str, str], *, feeds: bool) -> Self:
        """Raises: OSError."""
        loop = asyncio.get_running_loop()
        given = subprocess.PIPE if feeds else subprocess.DEVNULL
        starting = asyncio.ensure_future(cls._begin(loop, argv, env, given))
        try:
            return await asyncio.shield(starting)
        except asyncio.CancelledError:
            await (await starting).end()
            raise

    @classmethod
    async def _begin(
        cls,
        loop: asyncio.AbstractEventLoop,
        argv: Sequence[str],
        env: Mapping[str, str],
        given: int,
    ) -> Self:
        child = cls(await loop.run_in_executor(None, _popen, argv, env, given))
        await child._connect()
        return child

    async def _connect(self) -> None:
        loop, process = asyncio.get_running_loop(), self._process
        for pipe, reader in ((process.stdout, self.out), (process.stderr, self.errors)):
            self._pipes.append(await loop.connect_read_pipe(partial(_Pipe, reader), pipe))
        if process.stdin is not None:
            make = partial(_Pipe, StreamReader())
            transport, protocol = await loop.connect_write_pipe(make, process.stdin)
            self._pipes.append((transport, protocol))
            self.given = StreamWriter(transport, protocol, None, loop)

    async def wait(self) -> int:
        """Its exit code, once it has ended."""
        if self._process.poll() is None:
            over, handle = asyncio.Event(), os.pidfd_open(self.pid)
            loop = asyncio.get_running_loop()
            loop.add_reader(handle, over.set)
            try:
                await over.wait()
            finally:
                loop.remove_reader(handle)
                os.close(handle)
        return self._process.wait()

    async def end(self) -> None:
        """End it, with all that it began."""
        await asyncio.shield(asyncio.ensure_future(self._end()))

    async def _end(self) -> None:
        if self._process.poll() is None:
            _kill(self._process)
        for transport, pipe in self._pipes:
            if pipe.lost.is_set():
                continue
            if isinstance(transport, asyncio.WriteTransport):
                transport.abort()  # what is still to be written has no reader any more
            else:
                transport.close()
            await pipe.lost.wait()
        await self.wait()


def _popen(argv: Sequence[str], env: Mapping[str, str], given: int) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        argv,
        env=env,
        cwd="/",
        stdin=given,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        pipesize=PIPE_BYTES,
        start_new_session=True,
    )


def _kill(process: "subprocess.Popen[bytes]") -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
