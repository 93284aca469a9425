"""Runs, their events and what they spend, in PocketBase."""

from collections.abc import AsyncIterator, Sequence
from decimal import Decimal
from itertools import batched

from entrance.errors import Conflict
from entrance.ports import Usage
from entrance.session import RunId, TaskId
from orchestrator.adapters.pocketbase.client import PAGE, PocketBase
from orchestrator.adapters.pocketbase.filters import Condition, where
from orchestrator.adapters.pocketbase.rows import (
    cost_of,
    event_row,
    events_of,
    run_of,
    run_row,
    usage_of,
)
from orchestrator.domain.run import Run, RunState
from orchestrator.ports import Event

EVENTS_AT_ONCE = 200
"""As many as fit the server's limit of a request (32 MiB) when each is as long as it may be."""
_NEWEST_FIRST = "-created,-@rowid"
_ENDED = str(RunState.ENDED)


class PocketBaseRuns:
    """`orchestrator.ports.Runs` over PocketBase. Its indexes, not this class, keep runs single."""

    def __init__(self, store: PocketBase) -> None:
        self._store = store
        # By engagement: the next page of its usage, and the sum of the full ones before. Usage is
        # only ever appended, so a full page never changes.
        self._summed: dict[str, tuple[int, Decimal]] = {}

    async def create(self, run: Run) -> None:
        await self._store.create("runs", run_row(run))

    async def replace(self, run: Run) -> None:
        fields = {name: value for name, value in run_row(run).items() if name != "id"}
        await self._store.cas("runs", run.id, expected=run.version - 1, fields=fields)

    async def get(self, run: RunId) -> Run:
        return run_of(await self._store.get("runs", run))

    async def latest(self, task: TaskId) -> Run | None:
        of_task: Condition = ("task", "=", task)
        for filter_ in (where(of_task, ("state", "!=", _ENDED)), where(of_task)):
            rows = await self._store.list("runs", filter_, sort=_NEWEST_FIRST, limit=1)
            if rows:
                return run_of(rows[0])
        return None

    async def active(self) -> Sequence[Run]:
        filter_ = where(("state", "!=", _ENDED))
        return [run_of(row) async for row in self._store.all("runs", filter_, sort="@rowid")]

    async def recent(self, limit: int, task: TaskId | None = None) -> Sequence[Run]:
        of_task = where(("task", "=", task)) if task else ""
        rows = await self._store.list("runs", of_task, sort=_NEWEST_FIRST, limit=min(limit, PAGE))
        return [run_of(row) for row in rows]

    async def add_events(self, run: RunId, events: Sequence[Event]) -> None:
        for chunk in batched(events, EVENTS_AT_ONCE):
            await self._add_some(run, chunk)

    async def events(self, run: RunId, after: int = -1) -> AsyncIterator[Event]:
        full = True
        while full:
            filter_ = where(("run", "=", run), ("seq", ">", after))
            page = events_of(await self._store.list("events", filter_, sort="seq"))
            for event in page:
                yield event
            full = len(page) == PAGE
            after = page[-1].seq if page else after

    async def usage(self, run: RunId) -> Usage:
        rows = self._store.all("usage", where(("run", "=", run)), sort="@rowid")
        return usage_of([row async for row in rows])

    async def engagement_usd(self, engagement: str) -> Decimal:
        filter_ = where(("engagement", "=", engagement))
        while True:
            page, total = self._summed.get(engagement, (1, Decimal(0)))
            rows = await self._store.list(
                "usage", filter_, sort="@rowid", fields="cost_usd", page=page
            )
            total += cost_of(rows)
            if len(rows) < PAGE:
                return total
            self._summed[engagement] = (page + 1, total)

    async def _add_some(self, run: RunId, events: Sequence[Event]) -> None:
        """Store those that aren't there yet: a batch is refused whole for a single known one."""
        missing = {event.seq: event for event in reversed(events)}
        while missing:
            try:
                await self._store.batch(
                    "events", [event_row(run, each) for each in missing.values()]
                )
            except Conflict:
                known = await self._known(run, min(missing), max(missing)) & missing.keys()
                if not known:
                    raise
                missing = {seq: each for seq, each in missing.items() if seq not in known}
            else:
                return

    async def _known(self, run: RunId, first: int, last: int) -> set[int]:
        filter_ = where(("run", "=", run), ("seq", ">=", first), ("seq", "<=", last))
        return {
            row["seq"] async for row in self._store.all("events", filter_, sort="seq", fields="seq")
        }
