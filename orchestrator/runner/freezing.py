"""Freezes a sandbox whose honeytoken was touched, and calls whoever is to know.

What has to happen in the moment of it does: the run's token opens nothing any more. The rest is
done as soon as it can be, and again until it is done: after a crash, too, and by the next process.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import structlog

from entrance.errors import SandgateError
from entrance.ports import Touched
from entrance.session import RunId
from orchestrator.domain.frozen import Frozen, told
from orchestrator.ports import Alerts
from orchestrator.runner.world import World

log = structlog.get_logger()

AGAIN_S = 5.0


@dataclass
class Freezing:
    """Implements `entrance.ports.Alarm`. `wake` has a task looked at; `alerts` None: nobody is called."""

    world: World
    wake: Callable[[str], None]
    alerts: Alerts | None = None
    again_s: float = AGAIN_S
    _raised: asyncio.Event = field(init=False, repr=False, default_factory=asyncio.Event)

    def raised(self, touched: Touched) -> None:
        """The run's session is closed at once; everything else follows. Idempotent."""
        self.world.door.close(touched.run)
        if self.world.freezes.of(touched.run):
            return
        now = self.world.clock.now()
        frozen = Frozen(
            run=touched.run,
            task=touched.task,
            at=now,
            canary=touched.canary,
            place=touched.place,
            where=touched.where,
            door=touched.door,
            subject=touched.subject,
        )
        self.world.freezes.mark(frozen)
        log.error("honeytoken_touched", run=frozen.run, task=frozen.task, **_for_log(frozen))
        self._raised.set()

    async def run(self) -> None:
        """Do what is still to be done until cancelled."""
        while True:
            self._raised.clear()
            undone = [await self._all_of(one) for one in self.world.freezes.all()]
            try:
                async with asyncio.timeout(self.again_s if any(undone) else None):
                    await self._raised.wait()
            except TimeoutError:
                continue

    async def _all_of(self, frozen: Frozen) -> bool:
        """Freeze it and call for help, as far as that isn't done; whether something is left to do."""
        try:
            if not frozen.kept:
                await self.world.freezes.update(
                    frozen
                )  # before all else: the next process must know
                await self._freeze(frozen)
            if not frozen.alerted:
                await self._alert(frozen.run)
        except SandgateError as error:
            log.warning("freezing_goes_on", run=frozen.run, error=str(error))
            return True
        return False

    async def _freeze(self, frozen: Frozen) -> None:
        there = await self.world.sandboxes.freeze(frozen.run)
        await self.world.freezes.update(replace(frozen, kept=True))
        log.error("sandbox_frozen", run=frozen.run, task=frozen.task, container_kept=there)
        self.wake(frozen.task)

    async def _alert(self, run: RunId) -> None:
        frozen = self.world.freezes.of(run)
        if frozen is None:
            return  # a person was faster
        if self.alerts:
            await self.alerts.frozen(frozen)
        await self.world.freezes.update(replace(frozen, alerted=True))


def _for_log(frozen: Frozen) -> dict[str, str]:
    return {name: value for name, value in told(frozen).items() if name != "at"}
