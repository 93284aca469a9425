"""The step Finish: the harness is over, or is ended now; the run goes to settling."""

import asyncio
from datetime import timedelta

from entrance.errors import NotFound
from orchestrator.domain.run import Cause, Exit, Run, RunEvent, RunState, after
from orchestrator.ports import Sandbox
from orchestrator.runner.heed import heed
from orchestrator.runner.world import World


async def finish(world: World, run: Run, how: Exit) -> None:
    """End the harness if it may still run, and note how it was over."""
    if run.command and how.code is None and how.cause is not Cause.HONEYTOKEN:
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
        await _hear_it_out(world, run, sandbox)
    except NotFound:
        return  # it ended by itself, or its sandbox did


async def _hear_it_out(world: World, run: Run, sandbox: Sandbox) -> None:
    """Let an interrupted harness put its conversation away; one that isn't read can't end."""
    run = await world.counted(run.id)
    until = world.clock.now() + timedelta(seconds=world.limits.last_gasp_s)
    while world.clock.now() < until:
        progress = await world.sandboxes.progress(sandbox, run.command, run.cursor)
        if progress.lines:
            run = await heed(world, run, progress)
        elif not progress.running:
            return
        else:
            await asyncio.sleep(world.limits.poll_s)
