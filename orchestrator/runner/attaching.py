"""Attestations of a run's pushes get to its record: at its end, and those that come after it at once."""

import asyncio
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass

from entrance.errors import NotFound
from entrance.ports import AcceptedPush, Witness
from entrance.session import RunId
from orchestrator.domain.run import Run, RunState
from orchestrator.runner.world import World

OVER = frozenset({RunState.SETTLING, RunState.ENDED})


async def attach_attestations(world: World, run: Run) -> None:
    """Attach those that there are to the run's record. Idempotent. Raises: Unavailable."""
    for file in await asyncio.to_thread(world.attested, run.id):
        await world.tracker.attach(run.record, f"attestation-{file.name}", file)


@dataclass(frozen=True, slots=True)
class AttachingWitness:
    """Implements `Witness`: a push that a person allowed after its run was over is attached, too."""

    witness: Witness
    world: World
    open_runs: Callable[[], Collection[RunId]]
    """Those whose tokens are let in now."""

    async def accepted(self, push: AcceptedPush) -> None:
        """Have it attested. While the run goes on, its end is what attaches it. Raises: Unavailable."""
        await self.witness.accepted(push)
        if push.session.run in self.open_runs():
            return
        with suppress(NotFound):
            run = await self.world.runs.get(push.session.run)
            if run.record and run.state in OVER:
                await attach_attestations(self.world, run)
