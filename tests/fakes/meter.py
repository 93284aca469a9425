"""A meter in memory; while `down`, nothing can be read or added."""

import asyncio
from decimal import Decimal

from entrance.errors import Unavailable
from entrance.ports import Usage
from entrance.session import Envelope, RunId


class FakeMeter:
    """`entrance.ports.Meter` for tests."""

    def __init__(self) -> None:
        self.usage: dict[RunId, Usage] = {}
        self.of_envelopes: dict[tuple[str, str], Decimal] = {}
        """What other runs have spent of an envelope, by its kind and id."""
        self.down = False
        self.gate: asyncio.Event | None = None
        """What is added waits for it."""

    async def spent(self, run: RunId) -> Usage:
        self._reach()
        return self.usage.get(run, Usage())

    async def spent_of(self, envelope: Envelope) -> Decimal:
        """All runs are of one engagement here."""
        self._reach()
        others = self.of_envelopes.get((envelope.kind, envelope.id), Decimal(0))
        if envelope.kind == "run":
            return others + self.usage.get(RunId(envelope.id), Usage()).cost_usd
        return others + sum(usage.cost_usd for usage in self.usage.values())

    async def add(self, run: RunId, usage: Usage, lender: str = "") -> None:
        self._reach()
        if self.gate is not None:
            await self.gate.wait()
        self.usage[run] = self.usage.get(run, Usage()) + usage
        if lender:
            key = ("run", lender)
            self.of_envelopes[key] = self.of_envelopes.get(key, Decimal(0)) + usage.cost_usd

    def _reach(self) -> None:
        if self.down:
            raise Unavailable("the meter can't be reached")
