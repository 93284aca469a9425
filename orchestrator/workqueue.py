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
    """Keys, workers, and a backoff for keys whose handling fails."""

    handle: Handle
    workers: int
    _ready: asyncio.Queue[str] = field(default_factory=asyncio.Queue)
    _waiting: set[str] = field(default_factory=set)
    _working: set[str] = field(default_factory=set)
    _again: set[str] = field(default_factory=set)
    _failures: dict[str, int] = field(default_factory=dict)
    _later: list[tuple[float, str]] = field(default_factory=list)
    _sooner: asyncio.Event = field(default_factory=asyncio.Event)

    def add(self, key: str) -> None:
        """Have a key worked on soon. Adding it twice is adding it once."""
        if key in self._working:
            self._again.add(key)
        elif key not in self._waiting:
            self._waiting.add(key)
            self._ready.put_nowait(key)

    def add_after(self, key: str, seconds: float) -> None:
        """Have a key worked on in so many seconds."""
        heapq.heappush(self._later, (asyncio.get_running_loop().time() + seconds, key))
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
            if key in self._again:
                self._again.discard(key)
                self.add(key)
            elif again_s is not None:
                self.add_after(key, again_s)

    def _backoff(self, key: str) -> float:
        failures = self._failures.get(key, 0)
        self._failures[key] = failures + 1
        return min(FIRST_BACKOFF_S * 2.0**failures, LONGEST_BACKOFF_S)

    async def _wake_later_keys(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            self._sooner.clear()
            while self._later and self._later[0][0] <= loop.time():
                self.add(heapq.heappop(self._later)[1])
            pause = self._later[0][0] - loop.time() if self._later else None
            try:
                async with asyncio.timeout(pause):
                    await self._sooner.wait()
            except TimeoutError:
                continue
