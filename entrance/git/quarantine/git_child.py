"""The one way in which the door runs git: nothing of this machine's configuration, bounded, ended with us.

Nothing that a child is told by its arguments is secret; a credential comes in the environment.
"""

import asyncio
import os
import resource
import signal
from asyncio import StreamWriter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from entrance.git.quarantine.piped import PIECE_BYTES, Piped

MEMORY_BYTES = 2 << 30
"""A child's address space; what would need more is refused, as it can't be looked at."""
CPU_S = 300
"""Of a processor; a pack of 2 GiB of ordinary work takes a fraction, one of zeros would take days."""
STDERR_BYTES = 16 << 10
_LAST_WORDS_S = 5.0
_NOWHERE = "/nonexistent"
_SETTINGS: Mapping[str, str] = {
    "safe.directory": "*",
    "core.hooksPath": os.devnull,
    "core.fsmonitor": "false",
    "core.bigFileThreshold": "8m",
    "core.deltaBaseCacheLimit": "16m",
    "core.packedGitWindowSize": "16m",
    "core.packedGitLimit": "256m",
    "credential.helper": "",
    "protocol.allow": "never",
    "protocol.http.allow": "always",
    "protocol.https.allow": "always",
    "http.followRedirects": "false",
    "gc.auto": "0",
    "gc.autoDetach": "false",
    "maintenance.auto": "false",
    "pack.deltaCacheSize": "16m",
    "fetch.unpackLimit": "1",
    "fetch.writeCommitGraph": "true",  # ten times as fast to tell which commits are new
    "fetch.recurseSubmodules": "false",
    "submodule.recurse": "false",
}


class GitFailed(Exception):
    """git ended with an error, said too much or took too long. The message is git's own, cut short."""

    def __init__(self, message: str, code: int | None = None) -> None:
        super().__init__(message)
        self.code = code
        """How git ended; None when it was ended."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a child looks: a repository, and perhaps objects that are not in it (yet)."""

    repository: Path
    objects: Path | None = None
    """Written to instead of the repository's own, which are still read."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a child may take."""

    seconds: float = 60.0
    stdout_bytes: int = 64 << 20
    file_bytes: int = 64 << 30
    """The largest file that it writes."""


BOUNDS = Bounds()


class Child:
    """A git that runs."""

    def __init__(self, process: Piped) -> None:
        self._process = process
        self._said = bytearray()
        self._listening = asyncio.ensure_future(self._listen())

    async def write(self, data: bytes) -> None:
        """Raises: GitFailed when it reads no more."""
        given = cast(StreamWriter, self._process.given)
        try:
            given.write(data)
            await given.drain()
        except ConnectionError as error:
            code = await self._process.wait()
            raise GitFailed(await self._why() or "git stopped reading", code) from error

    async def write_end(self) -> None:
        """There is no more to be written."""
        given = cast(StreamWriter, self._process.given)
        with suppress(ConnectionError):
            given.close()
            await given.wait_closed()

    async def pieces(self, most_bytes: int) -> AsyncIterator[bytes]:
        """What it prints, as it comes. Raises: GitFailed when that is more than `most_bytes`."""
        left = most_bytes
        while piece := await self._process.out.read(PIECE_BYTES):
            left -= len(piece)
            if left < 0:
                raise GitFailed(f"git printed more than {most_bytes} bytes")
            yield piece

    async def ended(self) -> None:
        """Wait for its end. Raises: GitFailed unless it is a good one."""
        code = await self._process.wait()
        if code == -signal.SIGXFSZ:
            raise GitFailed("git would have written more than may be", code)
        if code != 0:
            raise GitFailed(await self._why() or f"git ended with {code}", code)

    async def end(self) -> None:
        """End it, with all that it began."""
        await self._process.end()
        self._listening.cancel()
        await asyncio.wait([self._listening])

    async def _listen(self) -> None:
        """Take what it prints as errors, until it prints no more."""
        while piece := await self._process.errors.read(PIECE_BYTES):
            self._said += piece[: max(0, STDERR_BYTES - len(self._said))]

    async def _why(self) -> str:
        """What it said of its trouble, in one line, once it has ended."""
        await asyncio.wait([self._listening], timeout=_LAST_WORDS_S)
        lines = self._said.decode("utf-8", "backslashreplace").splitlines()
        told = [line for line in lines if line.startswith(("fatal:", "error:"))] or lines
        return "; ".join(line.strip() for line in told)[:500]


def environment(
    place: Place, secret: Mapping[str, str] | None = None, more: Mapping[str, str] | None = None
) -> dict[str, str]:
    """All of a child's environment. `secret`: HTTP headers that it adds to each request."""
    settings = [*{**_SETTINGS, **(more or {})}.items()]
    settings += [("http.extraHeader", f"{name}: {value}") for name, value in (secret or {}).items()]
    told = {
        "PATH": os.defpath,
        "HOME": _NOWHERE,
        "LC_ALL": "C",
        "GIT_DIR": str(place.repository),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "/bin/false",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_CONFIG_COUNT": str(len(settings)),
    }
    for number, (name, value) in enumerate(settings):
        told |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
    if place.objects is not None:
        told["GIT_OBJECT_DIRECTORY"] = str(place.objects)
        told["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = str(place.repository / "objects")
    return told


@asynccontextmanager
async def started(
    arguments: Sequence[str],
    env: Mapping[str, str],
    *,
    bounds: Bounds = BOUNDS,
    feeds: bool = False,
) -> AsyncIterator[Child]:
    """Git, at work inside the block; ended, with all that it began, when the block is left.

    Raises: GitFailed when the block takes longer than `bounds` have it, or git can't be started.
    """
    try:
        process = await Piped.begun(("git", *arguments), env, feeds=feeds)
    except OSError as error:
        raise GitFailed(f"git can't be started: {error.strerror}") from error
    child = Child(process)
    try:
        _bound(process.pid, bounds.file_bytes)
        async with asyncio.timeout(bounds.seconds):
            yield child
    except TimeoutError as error:
        raise GitFailed(f"git took longer than {bounds.seconds:g} seconds") from error
    finally:
        await child.end()


async def git(
    arguments: Sequence[str],
    env: Mapping[str, str],
    *,
    given: bytes | None = None,
    bounds: Bounds = BOUNDS,
) -> bytes:
    """What git prints. Raises: GitFailed."""
    async with started(arguments, env, bounds=bounds, feeds=given is not None) as child:
        out, _ = await asyncio.gather(_all_of(child, bounds), _give(child, given))
        await child.ended()
        return out


async def _all_of(child: Child, bounds: Bounds) -> bytes:
    return b"".join([piece async for piece in child.pieces(bounds.stdout_bytes)])


async def _give(child: Child, data: bytes | None) -> None:
    if data is None:
        return
    with suppress(GitFailed):  # how it ended says more
        await child.write(data)
    await child.write_end()


def _bound(pid: int, file_bytes: int) -> None:
    with suppress(OSError):  # it has ended already
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (file_bytes, file_bytes))
        resource.prlimit(pid, resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
        resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0))
        resource.prlimit(pid, resource.RLIMIT_CPU, (CPU_S, CPU_S))
