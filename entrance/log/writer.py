"""Lines get to the disk before they count: those that come together get there together.

A line is written in the moment in which it comes, which takes the time of a copy; what takes its
time is the disk. One wait for it goes on at a time, and covers all that was written before it began.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from entrance.disk import Disk
from entrance.errors import Unavailable
from entrance.log.segments import End, Segments


@dataclass(frozen=True, slots=True)
class _Written:
    """A line that is in the file, who waits for its number, and the end of the segment with it."""

    number: "asyncio.Future[int]"
    end: End


class Writer:
    """Appends to a log's segments, in one event loop."""

    def __init__(self, segments: Segments, disk: Disk, kept: Callable[[], None]) -> None:
        """`kept` is called when there is something new on the disk."""
        self._segments = segments
        self._disk = disk
        self._tell_kept = kept
        self._written: list[_Written] = []
        """What is not yet known to be on the disk, oldest first."""
        self._covered = 0
        """How many of these the disk is waited for now."""
        self._waiting: deque[tuple[Mapping[str, Any], asyncio.Future[int]]] = deque()
        """What comes while a full segment isn't yet on the disk, and so can't be sealed."""

    def append(self, fields: Mapping[str, Any]) -> "asyncio.Future[int]":
        """Write a line. Its number is known once it is on the disk.

        The line stays even if nobody waits for it any more. The future fails with Unavailable,
        and then the line is not in the log.
        """
        number: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        if self._waiting or (self._written and self._segments.full):
            self._waiting.append((fields, number))
        else:
            self._write(fields, number)
        return number

    def _write(self, fields: Mapping[str, Any], number: "asyncio.Future[int]") -> None:
        try:
            if self._segments.full:
                self._segments.turn()
            end = self._segments.write(fields)
        except (OSError, TypeError, ValueError) as error:
            if not number.done():
                number.set_exception(_unavailable(error))
            return
        self._written.append(_Written(number, end))
        if not self._covered:
            self._sync()

    def _sync(self) -> None:
        """Begin to wait for the disk, for all that was written."""
        loop = asyncio.get_running_loop()

        def done(error: OSError | None) -> None:
            with suppress(RuntimeError):  # the loop is closed: nobody waits there any more
                loop.call_soon_threadsafe(self._synced, error)

        self._covered = len(self._written)
        try:
            there = self._disk.sync(self._segments.handle, done)
        except OSError as error:
            self._synced(error)
        else:
            if there:
                self._synced(None)

    def _synced(self, error: OSError | None) -> None:
        if error:  # what came later is chained to what is lost
            lost, self._written = self._written, []
            self._segments.lose()
            _tell(lost, _unavailable(error))
        else:
            kept, self._written = self._written[: self._covered], self._written[self._covered :]
            self._segments.keep(kept[-1].end)
            _tell(kept, None)
            self._tell_kept()
        self._covered = 0
        if self._written:
            self._sync()
        while self._waiting and not (self._written and self._segments.full):
            self._write(*self._waiting.popleft())


def _tell(lines: Sequence[_Written], failure: Unavailable | None) -> None:
    for line in lines:
        if line.number.done():  # its caller was cancelled
            continue
        if failure:
            line.number.set_exception(failure)
        else:
            line.number.set_result(line.end.head.seq)


def _unavailable(error: Exception) -> Unavailable:
    failure = Unavailable(f"the egress log can't be written: {error}")
    failure.__cause__ = error
    return failure
