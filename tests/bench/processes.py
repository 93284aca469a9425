"""The processes of a bench: started, what they say first, and what they use of a core."""

import asyncio
import os
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

READY_S = 180.0
"""ContextForge takes 12 s to start, and four times as long on a machine that has more to do."""
_AGAIN_S = 0.2
_ENDING_S = 20.0
_SAID_CHARS = 2000
_TICKS = os.sysconf("SC_CLK_TCK")


class NotServing(Exception):
    """A process of the bench doesn't serve; the text says why, as far as it is known."""


@asynccontextmanager
async def part(module: str, *arguments: str) -> AsyncIterator[tuple[int, Sequence[str]]]:
    """A process of the bench, ended with the block: its pid, and what it says first."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", module, *arguments, stdout=asyncio.subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        async with asyncio.timeout(READY_S):
            told = (await process.stdout.readline()).decode().split()
        if not told:
            raise NotServing(f"{module} {arguments[0]} ended before it said where it serves")
        yield process.pid, told
    finally:
        await _end(process)


class Program:
    """A program of others, started; what it says is in a file."""

    def __init__(self, process: Process, said: Path) -> None:
        self._process = process
        self._said = said

    @property
    def pid(self) -> int:
        """Its process."""
        return self._process.pid

    async def answers[T](self, ask: Callable[[], Awaitable[T]], *failures: type[Exception]) -> T:
        """What it answers once it does; until then asking it raises one of these failures.

        Raises: NotServing, with what it said last, when it ended or took too long.
        """
        end = asyncio.get_running_loop().time() + READY_S
        while True:
            try:
                return await ask()
            except failures as error:
                self._must_go_on(end, error)
                await asyncio.sleep(_AGAIN_S)

    def _must_go_on(self, end: float, error: Exception) -> None:
        ended = self._process.returncode
        if ended is None and asyncio.get_running_loop().time() < end:
            return
        why = f"doesn't answer ({error!r})" if ended is None else f"ended with {ended}"
        said = self._said.read_text(errors="replace")[-_SAID_CHARS:]
        raise NotServing(f"{self._said.stem} {why}; what it said last:\n{said}") from error


@asynccontextmanager
async def program(
    said: Path, *argv: str, env: Mapping[str, str], cwd: Path
) -> AsyncIterator[Program]:
    """A program of others, ended with the block, that knows of no variables but these."""
    with said.open("wb") as file:
        process = await asyncio.create_subprocess_exec(
            *argv, stdout=file, stderr=asyncio.subprocess.STDOUT, env=env, cwd=cwd
        )
    try:
        yield Program(process, said)
    finally:
        await _end(process)


async def _end(process: Process) -> None:
    """End it, whatever it is at."""
    with suppress(ProcessLookupError):
        process.terminate()
    try:
        async with asyncio.timeout(_ENDING_S):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()


def cpu_s(pid: int) -> float:
    """Seconds of processor that a process has used."""
    stat = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(stat[11]) + int(stat[12])) / _TICKS
