"""Waits for the disk beside the loop, in a thread that runs no Python.

A thread of Python's could not begin before the loop next waits, as only one of them may run at a
time; the wait for the disk would come after what it should be beside.
"""

import os
from collections.abc import Callable
from typing import Protocol, cast

from caio.thread_aio import Context, Operation

Done = Callable[[OSError | None], None]
"""Told when the data is on the disk, or why it is not. It may be called in any thread."""


class Disk(Protocol):
    """Puts what was written to a file on the disk."""

    def sync(self, handle: int, done: Done) -> None:
        """Begin, and return at once. Raises: OSError when it can't begin; then `done` isn't told."""
        ...


class DiskThread:
    """Implements `Disk`: fdatasync, in one thread, in the order in which it is asked."""

    def __init__(self) -> None:
        self._context: Context | None = None
        self._under_way: set[Operation] = set()

    def sync(self, handle: int, done: Done) -> None:
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
