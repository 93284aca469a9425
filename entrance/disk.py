"""Waits for the disk: beside the loop when there is much to do, in the loop itself when there isn't.

Beside it waits a thread that runs no Python. One of Python's could not begin before the loop next
waits, as only one of them may run at a time; the wait would come after what it should be beside.

To wake a thread, and to be woken by it, takes longer than a fast disk does. So a lone line, or one
that holds up nobody else, is waited for at once, as long as the disk is fast: one that was slow is
not trusted for a while.
"""

import os
from collections.abc import Callable
from time import perf_counter
from typing import Protocol, cast

from caio.thread_aio import Context, Operation

Done = Callable[[OSError | None], None]
"""Told when the data is on the disk, or why it is not. It may be called in any thread."""


class Disk(Protocol):
    """Puts what was written to a file on the disk."""

    def sync(self, handle: int, done: Done, *, alone: bool = False) -> bool:
        """Begin. True when it is there already; else `done` is told.

        `alone`: as far as is known, nothing else goes on that would have to wait.
        Raises: OSError when it can't be done, or can't begin; then `done` isn't told.
        """
        ...


LONE_S = 0.004
"""So long nothing else was to be put on the disk."""
SLOW_S = 0.002
"""A wait that held the loop for longer is the last one for a while."""
WARY_S = 30.0


class LoopDisk:
    """Implements `Disk` for one loop: fdatasync, in the order in which it is asked."""

    def __init__(self, clock: Callable[[], float] = perf_counter) -> None:
        """`clock` counts seconds."""
        self._context: Context | None = None
        self._under_way: set[Operation] = set()
        self._clock = clock
        self._asked_at = -LONE_S
        self._wary_until = float("-inf")

    def sync(self, handle: int, done: Done, *, alone: bool = False) -> bool:
        now = self._clock()
        lone = (alone or now - self._asked_at >= LONE_S) and not self._under_way
        self._asked_at = now
        if lone and now >= self._wary_until:
            self._wait(handle, now)
            return True
        self._begin(handle, done)
        return False

    def _wait(self, handle: int, now: float) -> None:
        os.fdatasync(handle)
        if self._clock() - now > SLOW_S:
            self._wary_until = now + WARY_S

    def _begin(self, handle: int, done: Done) -> None:
        if self._context is None:
            self._context = Context(pool_size=1)
        operation = cast(Operation, Operation.fdsync(handle))

        def over(result: int) -> None:
            self._under_way.discard(operation)
            number = operation.error
            done(None if result >= 0 else OSError(number, os.strerror(number)))

        operation.set_callback(over)
        self._under_way.add(operation)
        if self._context.submit(operation) != 1:
            self._under_way.discard(operation)
            raise OSError("the disk takes no more work")
