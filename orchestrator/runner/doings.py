"""What each run is doing, for the egress log: the cause of what its sandbox asks for."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import suppress

from entrance.ports import Cause
from entrance.session import RunId
from orchestrator.ports import Event
from orchestrator.runner.doing import Doing, doing

SOONEST_S = 0.02
"""A harness is looked at no more often, however much somebody wants to know what its run is doing."""


class Doings:
    """Implements `entrance.ports.Causes`; one event loop."""

    def __init__(self) -> None:
        self._doing: dict[RunId, Doing] = {}
        self._wanted: dict[RunId, asyncio.Event] = {}

    def of(self, run: RunId) -> Cause | None:
        """What the run has open; when that is no tool call, its harness is looked at soon."""
        known = self._doing.get(run)
        if known is None or not known.calls:
            self.look(run)
        return known.cause() if known else None

    def look(self, run: RunId) -> None:
        """Have its harness looked at soon."""
        self._flag(run).set()

    def heard(self, run: RunId, events: Iterable[Event]) -> None:
        """Its harness has said something more."""
        now = doing(self._doing.get(run), events)
        if now is not None:
            self._doing[run] = now

    async def restore(self, run: RunId, events: AsyncIterator[Event]) -> None:
        """Take up what it was doing, from its stored events, unless that is known."""
        if run not in self._doing:
            self.heard(run, [event async for event in events])

    async def pause(self, run: RunId, seconds: float) -> bool:
        """Wait so long before the harness is looked at again, or less when that is wanted.

        Returns whether it was.
        """
        flag = self._flag(run)
        at_least = min(seconds, SOONEST_S)
        await asyncio.sleep(at_least)
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds - at_least):
                await flag.wait()
        wanted = flag.is_set()
        flag.clear()
        return wanted

    def forget(self, run: RunId) -> None:
        """The run is over."""
        self._doing.pop(run, None)
        self._wanted.pop(run, None)

    def _flag(self, run: RunId) -> asyncio.Event:
        return self._wanted.setdefault(run, asyncio.Event())
