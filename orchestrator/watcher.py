"""Looks at Polarion and at our own state, again and again, and queues the keys of what may need work.

It decides nothing: a key that needs nothing is found to need nothing when it is worked on.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

import structlog

from entrance.errors import SandgateError
from orchestrator.domain.plan import WAKES
from orchestrator.ports import Runs, Tracker

log = structlog.get_logger()

PATIENCE = 5
"""A task that waits for what was delegated is looked at with every so-manyth look."""


@dataclass
class Watcher:
    """Polls every `poll_s` seconds; an outage is logged once, and looked past."""

    tracker: Tracker
    runs: Runs
    add: Callable[[str], None]
    poll_s: float
    _looks: int = field(init=False, default=-1)

    async def run(self) -> None:
        """Watch until cancelled."""
        outage = False
        while True:
            try:
                await self.look()
                if outage:
                    log.info("watch_recovered")
                outage = False
            except SandgateError as error:
                if not outage:
                    log.warning("watch_failed", error=str(error))
                outage = True
            await asyncio.sleep(self.poll_s)

    async def look(self) -> None:
        """Look once. Active runs first: they need nothing but our own state."""
        for run in await self.runs.active():
            self.add(run.task)
        engagements = await self.tracker.engagements()
        self._looks += 1
        for task in await self.tracker.waking(engagements):
            if task.status in WAKES or self._looks % PATIENCE == 0:
                self.add(task.id)
