"""What the fence of the sandbox network dropped, in the log: every packet, and none of them twice.

The table's counts only grow, and are never reset by us: they are what a crash can't lose. Each record
has what was added and what the sum is now; who begins anew reads the sums from the log, and goes on
from there.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import structlog

from entrance.errors import SandgateError
from orchestrator.domain.dropped import Anew, Counted, Dropped, Owner, news

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

    async def record(self, drops: Sequence[Dropped | Anew]) -> Sequence[SandgateError | None]:
        """Record each; None once it is on the disk, or why it is not in the log."""
        ...

    async def keep(self, told: Counted) -> None:
        """Keep what all records so far amount to: `told` needs not read the whole log then."""
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
                told = self._told or await self.log.told() or Counted(0)
                if told.generation != now.generation:
                    (trouble,) = await self.log.record([Anew(now.generation, told.generation)])
                    if trouble:
                        return trouble
                    told = Counted(now.generation)
                self._told = told
                return await self._tell(told, now)
            except SandgateError as error:
                return error

    async def _tell(self, told: Counted, now: Counted) -> SandgateError | None:
        """Record what is new since `told`; the first trouble with it."""
        drops = await self._drops(told, now)
        if not drops and told.flows.keys() <= now.flows.keys():
            return None
        came = await self.log.record(drops)
        done = [drop for drop, trouble in zip(drops, came, strict=True) if trouble is None]
        sums = {**told.flows, **{drop.flow: drop.total for drop in done}}
        # A flow that made room for others would begin at nothing again.
        sums = {flow: count for flow, count in sums.items() if flow in now.flows}
        self._told = Counted(now.generation, sums)
        await self.log.keep(self._told)
        return next(filter(None, came), None)

    async def _drops(self, told: Counted, now: Counted) -> list[Dropped]:
        fresh = list(news(told.flows, now.flows))
        if fresh:
            await self._learn()
        return [
            Dropped(flow, self._known.get(flow.source), more, now.flows[flow], now.generation)
            for flow, more in fresh
        ]

    async def _learn(self) -> None:
        try:
            self._known |= await self.owners()
        except SandgateError as error:
            # Better on record without an owner than not at all.
            log.warning("owners_of_addresses_not_known", error=str(error))
