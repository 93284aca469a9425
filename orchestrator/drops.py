"""What the fence of the sandbox network dropped, in the log: every packet, and none of them twice.

The table's counts only grow, and are never reset by us: they are what a crash can't lose. Each record
has what was added and what the sum is now; who begins anew reads the sums from the log, and goes on
from there.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

import structlog

from entrance.errors import SandgateError
from orchestrator.domain.dropped import Anew, Count, Counted, Dropped, Flow, Owner, news

log = structlog.get_logger()

EVERY_S = 1.0
REST_S = 9
"""So many times as long as a look took, nobody looks again: a long list mustn't fill a processor."""


class Counters(Protocol):
    """The fence's counts."""

    async def dropped(self) -> Counted:
        """What was dropped so far. Raises: Unavailable."""
        ...


class DropLog(Protocol):
    """Where drops are recorded."""

    async def told(self) -> Counted | None:
        """What the log says already: the newest generation, and the sums of its flows.

        None when it has nothing of the fence. Raises: Unavailable.
        """
        ...

    async def record(self, drop: Dropped | Anew) -> None:
        """Record it; it is on the disk afterwards. Raises: Unavailable, and then it is not in the log."""
        ...


type Owners = Callable[[], Awaitable[Mapping[str, Owner]]]
"""Whose each address is now. May raise SandgateError."""


@dataclass
class Drops:
    """Looks about once a second, and whenever an address is about to change hands."""

    counters: Counters
    log: DropLog
    owners: Owners
    every_s: float = EVERY_S
    _told: Counted | None = field(init=False, default=None)
    _known: dict[str, Owner] = field(init=False, default_factory=dict)
    """Whose each address was last: a sandbox's drops may be seen after its end."""
    _one_at_a_time: asyncio.Lock = field(init=False, default_factory=asyncio.Lock)

    async def run(self) -> None:
        """Look until cancelled; an outage is for the next look, which finds it all."""
        loop, said = asyncio.get_running_loop(), ""
        while True:
            began = loop.time()
            try:
                await self.look()
                said = ""
            except SandgateError as error:
                if said != str(error):
                    log.warning("drops_not_recorded", error=str(error))
                said = str(error)
            took = loop.time() - began
            await asyncio.sleep(max(self.every_s, took * REST_S))

    async def settle(self) -> None:
        """Look now, before an address changes hands; what can't be looked at now is for later."""
        try:
            await self.look()
        except SandgateError as error:
            log.warning("drops_not_recorded", error=str(error))

    async def look(self) -> None:
        """Look once, and record what is new. Raises: SandgateError; the rest is found the next time."""
        # To its end, whoever goes away meanwhile: what is being written must be known as told.
        trouble = await asyncio.shield(self._look())
        if trouble:
            raise trouble

    async def _look(self) -> SandgateError | None:
        async with self._one_at_a_time:
            try:
                now = await self.counters.dropped()
                told = await self._told_of(now.generation)
                await self._record(told, now)
            except SandgateError as error:
                return error
            return None

    async def _told_of(self, generation: int) -> dict[Flow, Count]:
        """The sums of this generation that are in the log; its beginning is recorded, too."""
        if self._told is None:
            self._told = await self.log.told() or Counted(0)
        if self._told.generation != generation:
            await self.log.record(Anew(generation, self._told.generation))
            self._told = Counted(generation)
        return dict(self._told.flows)

    async def _record(self, told: dict[Flow, Count], now: Counted) -> None:
        fresh = list(news(told, now.flows))
        if fresh:
            await self._learn()
        drops = [
            Dropped(
                flow, self._known.get(flow.source, Owner()), more, now.flows[flow], now.generation
            )
            for flow, more in fresh
        ]
        came = await asyncio.gather(*map(self.log.record, drops), return_exceptions=True)
        told |= {
            drop.flow: drop.total for drop, trouble in zip(drops, came, strict=True) if not trouble
        }
        # A flow that made room for others would begin at nothing again.
        self._told = Counted(
            now.generation, {f: count for f, count in told.items() if f in now.flows}
        )
        for trouble in filter(None, came):
            raise trouble

    async def _learn(self) -> None:
        try:
            self._known |= await self.owners()
        except SandgateError as error:
            # Better on record without an owner than not at all.
            log.warning("owners_of_addresses_not_known", error=str(error))
