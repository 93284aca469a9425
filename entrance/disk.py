"""Waits for the disk beside the loop: what else there is to do until then goes on.

Beside it waits a thread that runs no Python. One of Python's could not begin before the loop next
waits, as only one of them may run at a time; the wait would come after what it should be beside.
For the same reason the thread goes before others, where that is allowed: it is woken on the loop's own
processor, more often than not, and would else begin when the loop has nothing more to do.

To be woken by the thread takes longer than a fast disk does. So who has nothing else to do has the loop
itself wait for what is left, as long as the disk is fast: one that was slow is not trusted for a while.
"""

import asyncio
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from threading import Lock
from time import perf_counter
from typing import Protocol, cast

from caio.thread_aio import Context, Operation

Done = Callable[[OSError | None], None]
"""Told in the loop when the data is on the disk, or why it is not."""


class Disk(Protocol):
    """Puts what was written to a file on the disk."""

    def sync(self, handle: int, done: Done) -> None:
        """Begin. Raises: OSError when that can't be done; then `done` isn't told."""
        ...

    def hurry(self) -> None:
        """Wait for what was begun last, if that takes no time; its `done` is told by that."""
        ...


SLOW_S = 0.002
"""For so long the loop may be held; a disk that takes longer is not waited for in it for a while."""
WARY_S = 30.0


@dataclass(eq=False, slots=True)
class _Wait:
    """One sync. `over` is held until it is."""

    operation: Operation
    done: Done
    error: OSError | None = None
    over: Lock = field(default_factory=Lock)


class LoopDisk:
    """Implements `Disk` for one loop: fdatasync, in the order in which it is asked."""

    def __init__(self, clock: Callable[[], float] = perf_counter) -> None:
        """`clock` counts seconds."""
        self._context: Context | None = None
        self._under_way: set[_Wait] = set()
        """Those whose end was not told yet."""
        self._last: _Wait | None = None
        self._clock = clock
        self._wary_until = float("-inf")

    def sync(self, handle: int, done: Done) -> None:
        if self._context is None:
            with _before_others():
                self._context = Context(pool_size=1)
        wait = _Wait(cast(Operation, Operation.fdsync(handle)), done)
        wait.over.acquire()
        loop = asyncio.get_running_loop()

        def over(result: int) -> None:
            """In the thread."""
            if result < 0:
                number = wait.operation.error
                wait.error = OSError(number, os.strerror(number))
            wait.over.release()
            with suppress(RuntimeError):  # the loop is closed: nobody waits there any more
                loop.call_soon_threadsafe(self._tell, wait)

        wait.operation.set_callback(over)
        self._under_way.add(wait)
        if self._context.submit(wait.operation) != 1:
            self._under_way.discard(wait)
            raise OSError("the disk takes no more work")
        self._last = wait

    def hurry(self) -> None:
        wait, now = self._last, self._clock()
        if wait is None or wait not in self._under_way or now < self._wary_until:
            return
        if wait.over.acquire(timeout=SLOW_S):
            self._tell(wait)
        else:
            self._wary_until = now + WARY_S

    def _tell(self, wait: _Wait) -> None:
        """Once: whoever is in a hurry hears of it before the loop does."""
        if wait in self._under_way:
            self._under_way.remove(wait)
            wait.done(wait.error)


@contextmanager
def _before_others() -> Iterator[None]:
    """What is begun meanwhile goes before whatever isn't urgent, where this process may say so."""
    policy, parameters = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        os.sched_setscheduler(
            0, os.SCHED_RR, os.sched_param(os.sched_get_priority_min(os.SCHED_RR))
        )
    except OSError:
        yield
        return
    try:
        yield
    finally:
        os.sched_setscheduler(0, policy, parameters)
