"""Cleans up after crashes: tokens of runs that go on are opened again, sandboxes of none are removed."""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import structlog

from entrance.errors import SandgateError
from entrance.session import RunId
from orchestrator.domain.frozen import alarm_in
from orchestrator.domain.grants import after_handover
from orchestrator.domain.run import Cause, Exit, Run, RunEvent, RunState, after, changed
from orchestrator.runner.world import World

log = structlog.get_logger()

EVERY_S = 60.0


@dataclass
class Janitor:
    """Works once at the start, before the door opens, and then every minute."""

    world: World
    every_s: float = EVERY_S
    others: Callable[[], Iterable[RunId]] = tuple
    """Runs of nobody's tasks that are live now: those of the posture's battery."""

    async def restore(self) -> None:
        """Open the door again for runs whose harness may still be at work. Raises: Unavailable.

        Not for one that touched a honeytoken, which the process before may not have lived to see.
        """
        for run in await self.world.runs.active():
            if not run.session or run.state is not RunState.RUNNING:
                continue
            frozen = self.world.freezes.of(run.id) or alarm_in(
                run.id, run.task, await self.world.trail(run)
            )
            if frozen:
                await self.world.freezes.keep(frozen)
            else:
                self.world.door.open(after_handover(run.session) if run.ending else run.session)
                log.info("session_restored", run=run.id, task=run.task)

    async def sweep(self) -> None:
        """Remove what is left of runs that are over, or that nobody knows."""
        found = await self.world.sandboxes.orphans(await self._live())
        # A run is made before its sandbox: one that began while we looked is live by now.
        live = frozenset(await self._live()) if found else frozenset()
        for run in found:
            if run not in live:
                await self._remove(run)

    async def end_all(self, why: str) -> None:
        """End every sandbox that goes on: what can't be walled in mustn't. Raises: Unavailable.

        Their runs end with it, and say `why`. What is frozen doesn't go on.
        """
        runs = await self.world.sandboxes.orphans(self._frozen())
        # All at once: none may wait for another, nor for a word in the store.
        fell = Exit(None, Cause.FIREWALL, why)
        came = await asyncio.gather(*(self.end(run, fell) for run in runs), return_exceptions=True)
        for trouble in came:
            if trouble is not None:
                raise trouble

    async def end(self, run: RunId, how: Exit) -> None:
        """End a sandbox at once, and its run with it, which says why. Raises: Unavailable.

        A frozen one has ended already, and stays.
        """
        if self.world.freezes.of(run):
            return
        await asyncio.gather(self.world.sandboxes.kill(run), self._say(run, how))
        log.error("sandbox_ended", run=run, cause=how.cause, why=how.detail)

    async def _say(self, run: RunId, how: Exit) -> None:
        now = self.world.clock.now()

        def of_it(seen: Run) -> Run | None:
            if seen.state is RunState.RUNNING:
                return after(seen, RunEvent.OVER, now, exit=how)
            # Whoever followed it may have been faster, and found it lost.
            lost = seen.exit is not None and seen.exit.cause is Cause.SANDBOX_LOST
            unjudged = seen.state is RunState.SETTLING and seen.outcome is None
            return changed(seen, exit=how) if lost and unjudged else None

        try:
            await self.world.amend(run, of_it)
        except SandgateError as error:  # then it ends as a lost one
            log.warning("cause_not_noted", run=run, error=str(error))

    async def _remove(self, run: RunId) -> None:
        self.world.door.close(run)
        try:
            await self.world.sandboxes.kill(run)
        except SandgateError as error:  # one that resists must not shield the others
            log.warning("orphan_resists", run=run, error=str(error))
        else:
            log.warning("orphan_removed", run=run)

    async def _live(self) -> list[RunId]:
        """The runs whose sandboxes stay."""
        active = [run.id for run in await self.world.runs.active()]
        return [*active, *self.others(), *self._frozen()]

    def _frozen(self) -> list[RunId]:
        return [frozen.run for frozen in self.world.freezes.all()]

    async def run(self) -> None:
        """Sweep until cancelled; an outage is for the next sweep."""
        while True:
            try:
                await self.sweep()
            except SandgateError as error:
                log.warning("sweep_failed", error=str(error))
            await asyncio.sleep(self.every_s)
