"""What a person does with a frozen sandbox when they have seen enough."""

import structlog

from entrance.errors import Conflict, NotFound
from entrance.session import RunId
from orchestrator.domain.frozen import Frozen
from orchestrator.runner.world import World

log = structlog.get_logger()


async def release(world: World, run: RunId) -> Frozen:
    """Remove it; its task's disk stays, and the task can be tried again. Returns what was frozen.

    Raises: NotFound when it isn't frozen; Conflict when its run has not ended; Unavailable.
    """
    frozen = world.freezes.of(run)
    if frozen is None:
        raise NotFound(f"no sandbox of a run {run} is frozen")
    latest = await world.runs.latest(frozen.task)
    if latest is not None and latest.id == run and latest.active:
        raise Conflict(f"run {run} has not ended yet: try again in a moment")
    await world.sandboxes.kill(run)
    await world.disks.release(frozen.task)
    await world.freezes.forget(run)
    log.warning("sandbox_released", run=run, task=frozen.task)
    return frozen


async def discard(world: World, run: RunId) -> Frozen:
    """Remove it with its task's disk: what lies there was in a thief's hands. Raises: as `release`."""
    frozen = await release(world, run)
    await world.disks.purge(frozen.task)
    log.warning("frozen_disk_removed", run=run, task=frozen.task)
    return frozen
