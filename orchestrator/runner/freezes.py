"""Which sandboxes are frozen: in memory for whoever asks, in a store for the next start."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from entrance.session import RunId, TaskId
from orchestrator.domain.frozen import Frozen, in_words
from orchestrator.ports import FrozenStore


class Freezes:
    """Known from the moment of the alarm on. Raises, when made: what the store raises."""

    def __init__(self, store: FrozenStore) -> None:
        self._store = store
        self._by_run = {frozen.run: frozen for frozen in store.load()}
        self._at_work: dict[RunId, set[asyncio.Timeout]] = defaultdict(set)
        self._storing = asyncio.Lock()

    def of(self, run: RunId) -> Frozen | None:
        """What froze the run's sandbox, if something did."""
        return self._by_run.get(run)

    def of_task(self, task: TaskId) -> Frozen | None:
        """The same for the sandbox of a task's newest run: no other follows while it is frozen."""
        return next((one for one in self._by_run.values() if one.task == task), None)

    def all(self) -> Sequence[Frozen]:
        """All of them, oldest first."""
        return sorted(self._by_run.values(), key=lambda one: one.at)

    def said_of(self, task: TaskId) -> str:
        """What happened to the task's sandbox and what is to be done; empty when it isn't frozen."""
        frozen = self.of_task(task)
        return in_words(frozen) if frozen else ""

    def mark(self, frozen: Frozen) -> None:
        """From now on it counts as frozen; what goes on with its sandbox is broken off."""
        self._by_run[frozen.run] = frozen
        for scope in self._at_work.get(frozen.run, ()):
            scope.reschedule(asyncio.get_running_loop().time())

    async def keep(self, frozen: Frozen) -> None:
        """Mark it, and remember it for the next start. Raises: Unavailable."""
        self._by_run[frozen.run] = frozen
        await self.update(frozen)

    async def update(self, frozen: Frozen) -> None:
        """Remember how far it is dealt with, unless it is frozen no more. Raises: Unavailable."""
        async with self._storing:
            if frozen.run in self._by_run:
                self._by_run[frozen.run] = frozen
                await asyncio.to_thread(self._store.save, frozen)

    async def forget(self, run: RunId) -> None:
        """It is frozen no more. Raises: Unavailable."""
        async with self._storing:
            await asyncio.to_thread(self._store.delete, run)
            self._by_run.pop(run, None)

    @asynccontextmanager
    async def unless(self, run: RunId) -> AsyncIterator[None]:
        """Work with a run's sandbox; it ends, without an error, in the moment that this is frozen."""
        scope = asyncio.timeout(0 if run in self._by_run else None)
        self._at_work[run].add(scope)
        try:
            async with scope:
                yield
        except TimeoutError:
            if not scope.expired():
                raise
        finally:
            self._at_work[run].discard(scope)
            if not self._at_work[run]:
                del self._at_work[run]
