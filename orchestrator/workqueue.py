"""A queue of keys: each key is worked on by one worker at a time, and again if it was added meanwhile.

The queue holds keys, never objects: a worker reads the world afresh.
"""

import asyncio
import heapq
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import structlog

log = structlog.get_logger()

Handle = Callable[[str], Awaitable[float | None]]
"""Works on a key. Returns after how many seconds it wants the key again; None: not by itself."""

FIRST_BACKOFF_S = 0.5
LONGEST_BACKOFF_S = 30.0


@dataclass
class Workqueue:
    """Keys, workers, and a backoff for keys whose handling fails by a bug.

    A key that is to be worked on later has one such time, however often it is asked for: else
    every poll of a watcher would add one more round to a key that only waits.
    """

    handle: Handle
    workers: int
    first_backoff_s: float = FIRST_BACKOFF_S
    longest_backoff_s: float = LONGEST_BACKOFF_S
    _ready: asyncio.Queue[str] = field(init=False, default_factory=asyncio.Queue)
    _waiting: set[str] = field(init=False, default_factory=set)
    _working: set[str] = field(init=False, default_factory=set)
    _again: set[str] = field(init=False, default_factory=set)
    _failures: dict[str, int] = field(init=False, default_factory=dict)
    _due: dict[str, float] = field(init=False, default_factory=dict)
    _later: list[tuple[float, str]] = field(init=False, default_factory=list)
    _sooner: asyncio.Event = field(init=False, default_factory=asyncio.Event)

    def add(self, key: str) -> None:
        """Have a key worked on soon; one that failed, when its backoff is over.

        Adding it twice is adding it once.
        """
        if key in self._working:
            self._again.add(key)
        elif key not in self._waiting and not (key in self._failures and key in self._due):
            self._enqueue(key)

    def add_after(self, key: str, seconds: float) -> None:
        """Have a key worked on in so many seconds, or sooner if that was asked for already."""
        due = asyncio.get_running_loop().time() + seconds
        if due < self._due.get(key, float("inf")):
            self._due[key] = due
            heapq.heappush(self._later, (due, key))
            self._sooner.set()

    async def run(self) -> None:
        """Work until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._wake_later_keys())
            for _ in range(self.workers):
                group.create_task(self._work())

    async def _work(self) -> None:
        while True:
            key = await self._ready.get()
            self._waiting.discard(key)
            self._working.add(key)
            try:
                again_s = await self.handle(key)
                self._failures.pop(key, None)
            except Exception as error:  # one key's bug must not stop the others
                again_s = self._backoff(key)
                log.exception("key_failed", key=key, error=str(error), again_s=again_s)
            finally:
                self._working.discard(key)
            self._go_on(key, again_s)

    def _go_on(self, key: str, again_s: float | None) -> None:
        added = key in self._again
        self._again.discard(key)
        if added and key not in self._failures:
            self._enqueue(key)
        elif again_s is not None:
            self.add_after(key, again_s)

    def _enqueue(self, key: str) -> None:
        self._due.pop(key, None)
        self._waiting.add(key)
        self._ready.put_nowait(key)

    def _backoff(self, key: str) -> float:
        failures = self._failures.get(key, 0)
        self._failures[key] = failures + 1
        return min(self.first_backoff_s * 2.0 ** min(failures, 16), self.longest_backoff_s)

    async def _wake_later_keys(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            self._sooner.clear()
            while self._later and self._later[0][0] <= loop.time():
                self._wake(*heapq.heappop(self._later))
            pause = self._later[0][0] - loop.time() if self._later else None
            try:
                async with asyncio.timeout(pause):
                    await self._sooner.wait()
            except TimeoutError:
                continue

    def _wake(self, due: float, key: str) -> None:
        if self._due.get(key) == due:  # else it was worked on, or asked for anew, since
            del self._due[key]
            self.add(key)
