"""The step Finish: the harness is over, or is ended now; the run goes to settling."""

from entrance.errors import NotFound
from orchestrator.domain.run import Exit, Run, RunEvent, RunState, after
from orchestrator.runner.world import World


async def finish(world: World, run: Run, how: Exit) -> None:
    """End the harness if it may still run, and note how it was over."""
    if run.command and how.code is None:
        await _interrupt(world, run)
    now = world.clock.now()

    def over(seen: Run) -> Run | None:
        if seen.state in {RunState.SETTLING, RunState.ENDED}:
            return None
        return after(seen, RunEvent.OVER, now, exit=how)

    await world.amend(run.id, over)
    await world.note(run.id, "phase", {"state": str(RunState.SETTLING), "why": how.detail})


async def _interrupt(world: World, run: Run) -> None:
    sandbox = await world.sandboxes.find(run.id, world.execd_token(run.id))
    if sandbox is None:
        return
    try:
        await world.sandboxes.interrupt(sandbox, run.command)
    except NotFound:
        return  # it ended by itself, or its sandbox did
