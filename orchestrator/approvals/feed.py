"""What changes in the inbox, for whoever watches it: the newest changes, each with a number."""

import asyncio
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from entrance.errors import Unavailable
from entrance.session import RunId, TaskId
from orchestrator.approvals.ports import ApprovalStore
from orchestrator.domain.approval import Approval, ApprovalState

KEPT = 1000
"""So many of the newest changes are kept for those who come back."""


@dataclass(frozen=True, slots=True)
class Change:
    """An item as it was after a change. `mark` says where in the feed it is."""

    mark: str
    item: Approval


class Feed:
    """Keeps changes in memory. Who was away too long, or since before a restart, begins anew.

    Nothing is kept for each watcher: each asks for what came after its own mark. `born` tells this
    feed's marks from those of an earlier one.
    """

    def __init__(self, born: str, kept: int = KEPT) -> None:
        self.closed = False
        self._born = born
        self._newest = 0
        self._kept: deque[tuple[int, Approval]] = deque(maxlen=kept)
        self._watchers: set[asyncio.Event] = set()

    @property
    def mark(self) -> str:
        """Where the feed is now."""
        return self._mark(self._newest)

    @property
    def watchers(self) -> int:
        """How many watch it."""
        return len(self._watchers)

    def tell(self, item: Approval) -> None:
        """An item was made, or is another now."""
        self._newest += 1
        self._kept.append((self._newest, item))
        self._wake()

    def lost(self) -> None:
        """It can't be told what was changed: everybody begins anew."""
        self._newest += 1
        self._kept.clear()
        self._wake()

    def close(self) -> None:
        """The process ends: nobody is to wait for more."""
        self.closed = True
        self._wake()

    def after(self, mark: str) -> Sequence[Change] | None:
        """What came after a mark, in its order; None when that can't be told any more."""
        born, _, number = mark.rpartition("-")
        if born != self._born or not number.isdecimal() or int(number) > self._newest:
            return None
        first = self._kept[0][0] if self._kept else self._newest + 1
        if int(number) + 1 < first:
            return None
        return [Change(self._mark(n), item) for n, item in self._kept if n > int(number)]

    @contextmanager
    def watch(self) -> Iterator[asyncio.Event]:
        """A flag that is set whenever there is more; the watcher clears it before it looks."""
        flag = asyncio.Event()
        self._watchers.add(flag)
        try:
            yield flag
        finally:
            self._watchers.discard(flag)

    def _mark(self, number: int) -> str:
        return f"{self._born}-{number}"

    def _wake(self) -> None:
        for flag in self._watchers:
            flag.set()


@dataclass(frozen=True, slots=True)
class TellingStore:
    """Implements `orchestrator.approvals.ports.ApprovalStore` over another one: what it stores is told."""

    store: ApprovalStore
    feed: Feed

    async def create(self, item: Approval) -> None:
        with self._told(item):
            await self.store.create(item)

    async def replace(self, item: Approval) -> None:
        with self._told(item):
            await self.store.replace(item)

    async def get(self, item: str) -> Approval:
        return await self.store.get(item)

    async def listed(self, state: ApprovalState | None, limit: int) -> Sequence[Approval]:
        return await self.store.listed(state, limit)

    async def in_force(self) -> Sequence[Approval]:
        return await self.store.in_force()

    async def of_run(self, run: RunId) -> Sequence[Approval]:
        return await self.store.of_run(run)

    async def of_task(self, task: TaskId) -> Sequence[Approval]:
        return await self.store.of_task(task)

    @contextmanager
    def _told(self, item: Approval) -> Iterator[None]:
        try:
            yield
        except (Unavailable, asyncio.CancelledError):  # it may be stored all the same
            self.feed.lost()
            raise
        self.feed.tell(item)
