"""Git as the looker runs it: what it prints goes to memory, and is waited for beside other work."""

import os
import resource
import subprocess
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import IO

from entrance.git.quarantine.git_child import Place, environment
from entrance.git.quarantine.piped import PIPE_BYTES

PRINTED_BYTES = 64 << 20
"""What a git prints lies in memory, and what it prints of a few bytes of trees may be without end."""
CPU_S = 300
TOO_MUCH = "it has too many commits, paths or objects; push in smaller steps"

Wait = Generator[int | None, None, None]
"""Gives out what is to be waited for, a file descriptor that gets readable, or None to go on at once."""


class TroubleError(Exception):
    """The push can't be read. The message is a sentence for the agent."""

    def __init__(self, message: str, *, broken: bool = False) -> None:
        super().__init__(message)
        self.broken = broken
        """That may be the mirror's fault."""


@dataclass(frozen=True, slots=True)
class Running:
    """A git that prints into a file in memory."""

    process: "subprocess.Popen[bytes]"
    out: IO[bytes]

    def wait(self) -> Generator[int | None, None, int]:
        """Its exit code. Raises: TroubleError when it printed too much, for which it is ended."""
        if self.process.poll() is None:
            handle = os.pidfd_open(self.process.pid)
            try:
                yield handle
            finally:
                os.close(handle)
        code = self.process.wait()
        if self.out.seek(0, os.SEEK_END) >= PRINTED_BYTES:
            raise TroubleError(TOO_MUCH)
        return code

    def printed(self) -> bytes:
        """All of it."""
        self.out.seek(0)
        return self.out.read()

    def lines(self) -> Generator[int | None, None, bytes]:
        """What it prints, when it ends well. Raises: TroubleError."""
        code = yield from self.wait()
        if code != 0:
            raise TroubleError("git could not read all of the push", broken=True)
        return self.printed()


class Children:
    """Starts git at one place; at the end of the block none is left."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._running: list[subprocess.Popen[bytes]] = []
        self._files: list[IO[bytes]] = []

    def start(
        self, arguments: Sequence[str], given: Iterable[str] = (), place: Place | None = None
    ) -> Running:
        """Git, given these lines."""
        out = self._file()
        return Running(self._popen(arguments, given, out.fileno(), place), out)

    def stream(self, arguments: Sequence[str], given: Iterable[str]) -> "subprocess.Popen[bytes]":
        """Git, whose standard output is read as it comes."""
        return self._popen(arguments, given, subprocess.PIPE, None)

    def end(self) -> None:
        for process in self._running:
            process.kill()
            if process.stdout is not None:
                process.stdout.close()
            process.wait()
        for file in self._files:
            file.close()

    def _popen(
        self, arguments: Sequence[str], given: Iterable[str], out: int, place: Place | None
    ) -> "subprocess.Popen[bytes]":
        told = self._file()
        told.write("".join(f"{line}\n" for line in given).encode("ascii"))
        told.seek(0)
        process = subprocess.Popen(
            ["git", *arguments],
            env=environment(place or self._place),
            cwd="/",
            stdin=told,
            stdout=out,
            stderr=subprocess.DEVNULL,
            bufsize=1 << 18,
            pipesize=PIPE_BYTES,
        )
        self._running.append(process)
        for what, most in ((resource.RLIMIT_FSIZE, PRINTED_BYTES), (resource.RLIMIT_CPU, CPU_S)):
            with suppress(OSError):  # it has ended already
                resource.prlimit(process.pid, what, (most, most))
        return process

    def _file(self) -> IO[bytes]:
        file = os.fdopen(os.memfd_create("git"), "w+b")
        self._files.append(file)
        return file


@contextmanager
def children(place: Place) -> Iterator[Children]:
    """Git at this place, inside the block."""
    own = Children(place)
    try:
        yield own
    finally:
        own.end()
