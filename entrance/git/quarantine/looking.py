"""The door's end of the looker: one process, started when it is first needed, anew when it dies.

What it doesn't answer is not let through.
"""

import asyncio
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from contextlib import suppress
from dataclasses import replace
from functools import cache
from typing import cast

import structlog

from entrance.errors import Unavailable
from entrance.git.quarantine.compiled import memory
from entrance.git.quarantine.frames import (
    FrameBrokenError,
    Job,
    Result,
    length_of,
    pack,
    unpack,
)

log = structlog.get_logger()

MODULE = "entrance.git.quarantine.looker"
TIMES = 2
"""A job is tried again when the looker died, which may have been another job's fault."""
_SECONDS = 600.0
_GONE = "what is pushed can't be looked through now; nothing was pushed, try again later"


class _LookerDied(Exception):
    pass


_memory = cache(memory)
"""The one of this process, for all of its lookers."""


class Looking:
    """Has objects looked through. `close` when no more is wanted."""

    def __init__(self, seconds: float = _SECONDS) -> None:
        self._seconds = seconds
        self._process: Process | None = None
        self._listening: asyncio.Future[None] | None = None
        self._starting = asyncio.Lock()
        self._waiting: dict[int, asyncio.Future[Result]] = {}
        self._number = 0

    @property
    def pid(self) -> int | None:
        """The looker's, while there is one."""
        return self._process.pid if self._process else None

    async def warm(self) -> None:
        """Have the process ready. Raises: Unavailable."""
        try:
            await self._started()
        except OSError as error:
            raise Unavailable(_GONE) from error

    async def look(self, job: Job) -> Result:
        """What is in it. Raises: Unavailable when it can't be looked through."""
        for _ in range(TIMES):
            try:
                return await self._once(job)
            except (_LookerDied, OSError) as error:
                log.warning("looker_died", error=str(error))
        raise Unavailable(_GONE)

    async def close(self) -> None:
        """End the process. Idempotent."""
        process, self._process = self._process, None
        if process is not None:
            _end(process)
            await process.wait()
        if self._listening is not None:
            await asyncio.wait([self._listening])

    async def _once(self, job: Job) -> Result:
        process = await self._started()
        self._number += 1
        number = self._number
        answer: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        try:
            async with asyncio.timeout(self._seconds):
                await self._say(process, pack(replace(job, id=number)))
                return await answer
        except TimeoutError as error:
            _end(process)
            raise _LookerDied("it took too long") from error
        finally:
            del self._waiting[number]
            if not answer.done() or answer.cancelled():
                await self._cancel(process, number)

    async def _say(self, process: Process, frame: bytes) -> None:
        given = cast(asyncio.StreamWriter, process.stdin)
        try:
            given.write(frame)
            await given.drain()
        except ConnectionError as error:
            raise _LookerDied("it doesn't listen") from error

    async def _cancel(self, process: Process, number: int) -> None:
        with suppress(_LookerDied):
            await self._say(process, pack({"cancel": number}))

    async def _started(self) -> Process:
        """Raises: OSError."""
        async with self._starting:
            if self._process is None or self._process.returncode is not None:
                self._process = process = await asyncio.create_subprocess_exec(
                    sys.executable,
                    *("-I", "-m", MODULE, str(_memory())),
                    pass_fds=[_memory()],
                    env={"PATH": os.defpath, "LC_ALL": "C.UTF-8"},
                    cwd="/",
                    stdin=PIPE,
                    stdout=PIPE,
                    start_new_session=True,
                )
                self._listening = asyncio.ensure_future(self._listen(process))
            return self._process

    async def _listen(self, process: Process) -> None:
        told = cast(asyncio.StreamReader, process.stdout)
        try:
            while True:
                head = await told.readexactly(4)
                text = await told.readexactly(length_of(head))
                result = await asyncio.to_thread(_read, text)
                answer = self._waiting.get(result.id)
                if answer is not None and not answer.done():
                    answer.set_result(result)
        except (asyncio.IncompleteReadError, FrameBrokenError, ConnectionError) as error:
            self._lost(process, str(error))
        _end(process)
        await process.wait()

    def _lost(self, process: Process, why: str) -> None:
        if self._process is process:
            self._process = None
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(_LookerDied(why))


def _end(process: Process) -> None:
    """With all the git that it runs."""
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def _read(text: bytes) -> Result:
    return Result.of(unpack(text))
