"""What each run spends: one row a model call in PocketBase, and the sums in memory."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal

from entrance.errors import Conflict, NotFound
from entrance.ports import Usage
from entrance.session import Envelope, RunId
from orchestrator.adapters.pocketbase.client import PocketBase
from orchestrator.adapters.pocketbase.filters import Condition, where
from orchestrator.adapters.pocketbase.ids import new_id
from orchestrator.adapters.pocketbase.rows import Row, cost_of, usage_of, usage_row

FRESH_S = 2.0
"""A store that has answered so lately, whoever asked, need not be asked whether it is there."""


@dataclass(slots=True)
class _Tally:
    """One run's sum. `unstored` is spent too, but its rows are not known to be in the store."""

    stored: Usage | None = None
    engagement: str = ""
    unstored: dict[str, tuple[Usage, str]] = field(default_factory=dict)
    """By the row's id: the usage, and its lender."""
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class PocketBaseMeter:
    """`entrance.ports.Meter` over PocketBase; the only writer of usage.

    What was added while the store was down counts at once and is stored with the next call of
    either method: `add` raised, but must not be repeated. Until then `spent` raises, so that no
    more is spent.
    """

    def __init__(self, store: PocketBase, fresh_s: float = FRESH_S) -> None:
        self._store = store
        self._fresh_s = fresh_s
        self._tallies: dict[RunId, _Tally] = {}

    async def spent(self, run: RunId) -> Usage:
        tally = self._tallies.setdefault(run, _Tally())
        async with tally.lock:
            total = await self._stored(run, tally)
            # The sum is in memory: without this a call could begin that can't be added at its end.
            if not self._store.answered_within(self._fresh_s):
                await self._store.ping()
        return total

    async def spent_of(self, envelope: Envelope) -> Decimal:
        if envelope.kind == "engagement":
            return await self._cost(("engagement", "=", envelope.id))
        spent, lenders, seen = (
            await self._cost(("run", "=", envelope.id)),
            [envelope.id],
            set[str](),
        )
        while lenders:  # a row names who lent directly; that one may have borrowed itself
            lender = lenders.pop()
            seen.add(lender)
            rows = [row async for row in self._rows(("lender", "=", lender))]
            spent += cost_of(rows)
            lenders += {str(row["run"]) for row in rows} - seen
        return spent

    async def add(self, run: RunId, usage: Usage, lender: str = "") -> None:
        tally = self._tallies.setdefault(run, _Tally())
        tally.unstored[new_id()] = usage, lender
        async with tally.lock:
            await self._stored(run, tally)

    async def _stored(self, run: RunId, tally: _Tally) -> Usage:
        """The run's sum once everything is in the store."""
        if tally.stored is None:
            tally.engagement = await self._engagement(run)
            tally.stored = await self._sum(run)
        for id_, (usage, lender) in list(tally.unstored.items()):
            row = usage_row(id_, run, tally.engagement, usage, lender)
            with suppress(Conflict):  # stored by an earlier try whose answer was lost
                await self._store.create("usage", row)
            tally.stored += usage
            del tally.unstored[id_]
        return tally.stored

    async def _engagement(self, run: RunId) -> str:
        try:
            return str((await self._store.get("runs", run))["engagement"])
        except NotFound:
            return ""  # money was spent all the same

    async def _sum(self, run: RunId) -> Usage:
        rows = self._store.all("usage", where(("run", "=", run)), sort="@rowid")
        return usage_of([row async for row in rows])

    async def _cost(self, of: Condition) -> Decimal:
        return cost_of([row async for row in self._rows(of)])

    def _rows(self, of: Condition) -> AsyncIterator[Row]:
        return self._store.all("usage", where(of), sort="@rowid", fields="run,cost_usd")
