"""Lines get to the disk before they count: those that come together get there together.

A line is tied to the chain in the moment in which it comes; what takes its time is the disk. One wait
for it goes on at a time, and covers all that was in the file when it began: at once for a line that
comes alone, else with all that comes in the same turn of the loop. What comes meanwhile is written by
one call just before the next wait, as nobody is told of it sooner anyway. A line that nobody waits for
is in the file at once, and begins no wait of its own, unless nobody else does for a moment.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from entrance.disk import Disk
from entrance.errors import Unavailable
from entrance.log.line import End
from entrance.log.segments import Segments

UNWAITED_S = 0.05
"""After so long a line is on its way to the disk, whoever waits for it."""

type Kept = Callable[[int], object]
"""Told a line's number once it is on the disk, before who waits for it goes on."""


@dataclass(slots=True)
class _Line:
    """Who waits for a line, and its number in the chain as soon as it has one."""

    number: "asyncio.Future[int]"
    waited_for: bool
    kept: Kept | None
    seq: int = 0

    def is_kept(self) -> None:
        if not self.number.done():  # else its caller was cancelled
            if self.kept:
                self.kept(self.seq)
            self.number.set_result(self.seq)

    def is_lost(self, failure: Unavailable) -> None:
        if not self.number.done():
            self.number.set_exception(failure)


class Writer:
    """Appends to a log's segments, in one event loop."""

    def __init__(self, segments: Segments, disk: Disk, kept: Callable[[], None]) -> None:
        """`kept` is called when there is something new on the disk."""
        self._segments = segments
        self._disk = disk
        self._tell_kept = kept
        self._held: deque[tuple[datetime, Mapping[str, Any], _Line]] = deque()
        """What comes while a full segment isn't yet on the disk, and so can't be sealed."""
        self._added: list[_Line] = []
        """In the chain, and not yet in the file."""
        self._in_file: list[_Line] = []
        """In the file, and not waited for yet."""
        self._covered: list[_Line] = []
        """What the disk is waited for now."""
        self._crowded = False
        """Whether several waited for the disk together when it was last waited for: they come again."""
        self._soon: asyncio.Handle | None = None
        self._later: asyncio.TimerHandle | None = None

    def append(
        self,
        at: datetime,
        fields: Mapping[str, Any],
        *,
        waited_for: bool = True,
        alone: bool = False,
        kept: Kept | None = None,
    ) -> "asyncio.Future[int]":
        """Add a line of what was at that time. Its number is known once it is on the disk.

        The line stays even if nobody waits for it any more. The future fails with Unavailable,
        and then the line is not in the log. `alone`: as far as is known, nothing else goes on.
        """
        line = _Line(asyncio.get_running_loop().create_future(), waited_for, kept)
        if self._held or self._segments.full(at):
            self._held.append((at, fields, line))
            self._let_in()
        else:
            self._add(at, fields, line)
        self._go_on(at_once=waited_for or bool(self._held), alone=alone)
        return line.number

    def hurry(self) -> None:
        """Wait in the loop for what the disk is at, if that takes no time."""
        if self._covered:
            self._disk.hurry()

    async def settled(self) -> None:
        """Return when all that was added is on the disk, or known to be lost."""
        self._go_on(at_once=True)
        while lines := self._unsettled():
            await asyncio.wait([line.number for line in lines])
            self._go_on(at_once=True)

    def _unsettled(self) -> list[_Line]:
        return self._covered + self._in_file + self._added

    def _let_in(self) -> None:
        """Go on with what was held, up to where a full segment isn't yet on the disk."""
        while self._held:
            at, fields, line = self._held[0]
            full = self._segments.full(at)
            if full and self._unsettled():
                return
            self._held.popleft()
            self._add(at, fields, line, turn=full)

    def _add(
        self, at: datetime, fields: Mapping[str, Any], line: _Line, *, turn: bool = False
    ) -> None:
        try:
            if turn:
                self._segments.turn(at)
            line.seq = self._segments.add(at, fields)
        except (OSError, TypeError, ValueError) as error:
            line.is_lost(_unavailable(error))
            return
        self._added.append(line)
        if not line.waited_for:
            self._flush()

    def _flush(self) -> None:
        """Write what was added, all of it or nothing."""
        added, self._added = self._added, []
        try:
            self._segments.flush()
        except OSError as error:
            _tell_lost(added, error)
        else:
            self._in_file += added

    def _go_on(self, *, at_once: bool, alone: bool = False) -> None:
        """Have what was added get to the disk: now, at the end of this turn of the loop, or in a moment."""
        if self._covered or not (self._in_file or self._added):
            return
        loop = asyncio.get_running_loop()
        if at_once and alone and not self._crowded:
            self._sync()
        elif at_once:
            self._soon = self._soon or loop.call_soon(self._sync)
        else:
            self._later = self._later or loop.call_later(UNWAITED_S, self._sync)

    def _sync(self) -> None:
        """Begin to wait for the disk, for all that was added."""
        for begun in (self._soon, self._later):
            if begun is not None:
                begun.cancel()
        self._soon = self._later = None
        if self._covered:
            return
        self._flush()
        self._covered, self._in_file = self._in_file, []
        if not self._covered:
            return
        self._crowded = sum(line.waited_for for line in self._covered) > 1
        end = self._segments.in_file
        try:
            self._disk.sync(self._segments.handle, partial(self._synced, end))
        except OSError as error:
            self._synced(end, error)

    def _synced(self, end: End, error: OSError | None) -> None:
        if error:  # what came later is chained to what is lost
            self._segments.lose()
            lost, self._in_file, self._added = self._unsettled(), [], []
            _tell_lost(lost, error)
        else:
            self._segments.keep(end)
            for line in self._covered:
                line.is_kept()
            self._tell_kept()
        self._covered = []
        self._let_in()
        waited_for = self._held or self._added or any(line.waited_for for line in self._in_file)
        self._go_on(at_once=bool(waited_for))


def _tell_lost(lines: Iterable[_Line], error: OSError) -> None:
    for line in lines:
        line.is_lost(_unavailable(error))


def _unavailable(error: Exception) -> Unavailable:
    failure = Unavailable(f"the egress log can't be written: {error}")
    failure.__cause__ = error
    return failure
