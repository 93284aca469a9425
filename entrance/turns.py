"""So much at once for each, and the rest waits: a run can't take the door's disk and processors alone."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass


@dataclass(slots=True)
class _Queue:
    turns: asyncio.Semaphore
    count: int = 0
    """Who has a turn or waits for one."""


class Turns:
    """`most` turns at once for each name. Nothing is kept of who wants none."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._queues: dict[str, _Queue] = {}

    @asynccontextmanager
    async def turn(self, name: str) -> AsyncIterator[None]:
        """Wait for one; it is over with the block."""
        queue = self._queues.setdefault(name, _Queue(asyncio.Semaphore(self._most)))
        queue.count += 1
        try:
            async with queue.turns:
                yield
        finally:
            queue.count -= 1
            if not queue.count:
                del self._queues[name]
