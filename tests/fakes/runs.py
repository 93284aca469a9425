"""Runs in memory, with the real store's behaviour: conflicts, and an outage on demand."""

from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from decimal import Decimal

from entrance.errors import Conflict, NotFound, Unavailable
from entrance.ports import Usage
from entrance.session import RunId, TaskId
from orchestrator.domain.run import Run
from orchestrator.ports import Event


class FakeRuns:
    """`orchestrator.ports.Runs`; passes its contract. While `down`, everything raises Unavailable."""

    def __init__(self) -> None:
        self.down = False
        self._runs: dict[RunId, Run] = {}
        self._events: dict[RunId, dict[int, Event]] = defaultdict(dict)
        self._usage: dict[RunId, Usage] = {}

    def spend(self, run: RunId, usage: Usage) -> None:
        """As the meter does at the end of a model call."""
        self._usage[run] = self._usage.get(run, Usage()) + usage

    async def create(self, run: Run) -> None:
        self._up()
        if run.id in self._runs:
            raise Conflict(f"run {run.id} exists")
        self._single(run)
        self._runs[run.id] = run

    async def replace(self, run: Run) -> None:
        stored = await self.get(run.id)
        if stored.version != run.version - 1:
            raise Conflict(f"run {run.id} has version {stored.version}, not {run.version - 1}")
        self._single(run)
        self._runs[run.id] = run

    async def get(self, run: RunId) -> Run:
        self._up()
        if run not in self._runs:
            raise NotFound(f"no run {run}")
        return self._runs[run]

    async def latest(self, task: TaskId) -> Run | None:
        runs = await self.recent(len(self._runs), task)
        return next((run for run in runs if run.active), runs[0] if runs else None)

    async def active(self) -> Sequence[Run]:
        self._up()
        return [run for run in self._runs.values() if run.active]

    async def recent(self, limit: int, task: TaskId | None = None) -> Sequence[Run]:
        self._up()
        newest_first = [r for r in reversed(self._runs.values()) if task in {None, r.task}]
        return sorted(newest_first, key=lambda run: run.created_at, reverse=True)[:limit]

    async def add_events(self, run: RunId, events: Sequence[Event]) -> None:
        self._up()
        for event in events:
            self._events[run].setdefault(event.seq, event)

    async def events(self, run: RunId, after: int = -1) -> AsyncIterator[Event]:
        self._up()
        for seq in sorted(self._events[run]):
            if seq > after:
                yield self._events[run][seq]

    async def usage(self, run: RunId) -> Usage:
        self._up()
        return self._usage.get(run, Usage())

    async def engagement_usd(self, engagement: str) -> Decimal:
        self._up()
        of_engagement = [run.id for run in self._runs.values() if run.engagement == engagement]
        return sum((self._usage.get(run, Usage()).cost_usd for run in of_engagement), Decimal(0))

    def _up(self) -> None:
        if self.down:
            raise Unavailable("the store is down")

    def _single(self, run: Run) -> None:
        others = (other for other in self._runs.values() if other.active and other.id != run.id)
        if run.active and any(run.task == o.task or run.agent == o.agent for o in others):
            raise Conflict(f"{run.task} or {run.agent} has an active run")
