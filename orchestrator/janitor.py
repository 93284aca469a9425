"""Cleans up after crashes: tokens of runs that go on are opened again, sandboxes of none are removed."""

import asyncio
from dataclasses import dataclass

import structlog

from entrance.errors import SandgateError
from orchestrator.domain.run import RunState
from orchestrator.runner.world import World

log = structlog.get_logger()

EVERY_S = 60.0


@dataclass
class Janitor:
    """Works once at the start, before the door opens, and then every minute."""

    world: World

    async def restore(self) -> None:
        """Open the door again for runs whose harness may still be at work. Raises: Unavailable."""
        for run in await self.world.runs.active():
            if run.session and run.state is RunState.RUNNING:
                self.world.door.open(run.session)
                log.info("session_restored", run=run.id, task=run.task)

    async def sweep(self) -> None:
        """Remove what is left of runs that are over, or that nobody knows."""
        live = [run.id for run in await self.world.runs.active()]
        for run in await self.world.sandboxes.orphans(live):
            self.world.door.close(run)
            await self.world.sandboxes.kill(run)
            log.warning("orphan_removed", run=run)

    async def run(self) -> None:
        """Sweep until cancelled; an outage is for the next sweep."""
        while True:
            try:
                await self.sweep()
            except SandgateError as error:
                log.warning("sweep_failed", error=str(error))
            await asyncio.sleep(EVERY_S)
