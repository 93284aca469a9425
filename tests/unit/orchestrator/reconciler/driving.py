"""Brings the fakes' one task to where nothing is left to do."""

from typing import Any

from orchestrator.domain.run import Ending, Outcome, Run, changed
from tests.fakes.sandboxes import FakeHarness, FakeSandboxes
from tests.fakes.world import TASK, FakeWorld

SAYS = ['{"type":"started","model":"m"}', '{"type":"text","text":"hello"}', "no json"]


class SubmittingSandboxes(FakeSandboxes):
    """The agent submits as soon as its harness is followed."""

    def __init__(self, world: FakeWorld) -> None:
        super().__init__(FakeHarness(SAYS))
        self._world = world

    async def renew(self, sandbox: Any) -> None:
        await super().renew(sandbox)
        run = await self._world.runs.latest(TASK.id)
        assert run
        if run.ending is None:
            ending = Ending(Outcome.SUBMITTED, "fixed", self._world.clock.now())
            await self._world.runs.replace(changed(run, ending=ending))
            await self._world.tracker.act(TASK.id, "submit")


class Crash(Exception):
    """The process dies here."""


async def settle_down(world: FakeWorld, *, most: int = 40) -> Run | None:
    """Handle the task until nothing is left to do; a crash starts a new process."""
    reconciler = world.reconciler()
    for _ in range(most):
        try:
            again = await reconciler.handle(TASK.id)
        except Crash:
            reconciler = world.reconciler()
            continue
        if again is None:
            break
        world.clock.advance(1)
    return await world.runs.latest(TASK.id)


async def kinds(world: FakeWorld, run: Run) -> list[str]:
    return [event.kind async for event in world.runs.events(run.id)]
