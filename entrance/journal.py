"""Lines of a chained file, on the disk before they count: those that come together get there together.

A line is written in the moment in which it comes, which takes the time of a copy; what takes its
time is the disk. One wait for it goes on at a time, and covers all that was written before it began.
"""

import asyncio
import os
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from entrance.chain import Link, end_of, private, verify
from entrance.disk import Disk, DiskThread
from entrance.errors import Unavailable


@dataclass(frozen=True, slots=True)
class _Written:
    """A line that is in the file, who waits for its number, and the end of the chain with it."""

    number: "asyncio.Future[int]"
    end: Link


class Journal:
    """The lines of one file, written by one process, in one event loop.

    A file that another has changed is not written to again.
    Raises, when opened: Malformed when its last whole line can't be read.
    """

    def __init__(self, path: Path, now: Callable[[], datetime], disk: Disk | None = None) -> None:
        self._file = _File(path)
        self._now = now
        self._disk = disk or DiskThread()
        self._end = self._kept = end_of(path)
        """The end of what was written, and of what is known to be on the disk."""
        self._written: list[_Written] = []
        """What is not yet known to be on the disk, oldest first."""
        self._covered = 0
        """How many of these the disk is waited for now."""

    def append(self, fields: Mapping[str, Any]) -> "asyncio.Future[int]":
        """Write a line. Its number is known once it is on the disk.

        The line stays even if nobody waits for it any more. The future fails with Unavailable,
        and then the line is not in the file.
        """
        number: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        try:
            raw, end = self._end.line(self._now().isoformat(), fields)
            self._file.write(raw, self._end.size_bytes)
        except (OSError, TypeError, ValueError) as error:
            number.set_exception(self._unavailable(error))
            return number
        self._end = end
        self._written.append(_Written(number, end))
        if not self._covered:
            self._sync()
        return number

    async def check(self) -> int:
        """How many lines are on the disk; the file can be written, and their chain is whole.

        Raises: OSError, ValueError.
        """
        self._file.check(self._end.size_bytes)
        return await asyncio.to_thread(verify, self._file.path, self._kept.size_bytes)

    def _sync(self) -> None:
        """Begin to wait for the disk, for all that was written."""
        loop = asyncio.get_running_loop()

        def done(error: OSError | None) -> None:
            with suppress(RuntimeError):  # the loop is closed: nobody waits there any more
                loop.call_soon_threadsafe(self._synced, error)

        self._covered = len(self._written)
        try:
            self._disk.sync(self._file.handle, done)
        except OSError as error:
            self._synced(error)

    def _synced(self, error: OSError | None) -> None:
        if error:  # what came later is chained to what is lost
            lost, self._written, self._end = self._written, [], self._kept
            self._file.cut(self._kept.size_bytes)
            self._tell(lost, self._unavailable(error))
        else:
            kept, self._written = self._written[: self._covered], self._written[self._covered :]
            self._kept = kept[-1].end
            self._tell(kept, None)
        self._covered = 0
        if self._written:
            self._sync()

    def _tell(self, lines: Sequence[_Written], failure: Unavailable | None) -> None:
        for line in lines:
            if line.number.done():  # its caller was cancelled
                continue
            if failure:
                line.number.set_exception(failure)
            else:
                line.number.set_result(line.end.seq)

    def _unavailable(self, error: Exception) -> Unavailable:
        failure = Unavailable(f"the audit log {self._file.path} can't be written: {error}")
        failure.__cause__ = error
        return failure


class _File:
    """The file itself. It stays open; that it is still the one at its path is looked at each time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._handle: int | None = None
        self._torn = False

    @property
    def handle(self) -> int:
        """Raises: OSError when it can't be opened."""
        if self._handle is None:
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
            self._handle = private(str(self.path), flags)
            weakref.finalize(self, os.close, self._handle)
        return self._handle

    def write(self, raw: bytes, size: int) -> None:
        """Add to the file, which must have `size` bytes. Raises: OSError; then nothing was added."""
        if self._torn:  # half a line would break the chain for good
            os.ftruncate(self.handle, size)
            self._torn = False
        self.check(size)
        try:
            while raw:
                raw = raw[os.write(self.handle, raw) :]
        except OSError:
            self.cut(size)
            raise

    def cut(self, size: int) -> None:
        """Take away what is after `size`; when that can't be done now, before it is next written to."""
        self._torn = True
        with suppress(OSError):
            os.ftruncate(self.handle, size)
            self._torn = False

    def check(self, size: int) -> None:
        """Raises: OSError unless the file is as we left it: our own, with `size` bytes."""
        ours, found = os.fstat(self.handle), os.stat(self.path)  # noqa: PTH116 - for every line
        if (found.st_ino, found.st_dev) != (ours.st_ino, ours.st_dev):
            raise OSError("another file is in its place")
        if found.st_size != size:
            raise OSError(f"it has {found.st_size} bytes where we left {size}: somebody changed it")
