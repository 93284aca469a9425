"""The step Follow: what the harness says is stored as events, until it is over or wants attention."""

from datetime import datetime, timedelta

from entrance.errors import NotFound
from orchestrator.domain.heard import without_tools
from orchestrator.domain.run import Cause, Exit, Run, RunState
from orchestrator.ports import Progress, Sandbox, WallsFell
from orchestrator.runner.finish import finish
from orchestrator.runner.heed import heed
from orchestrator.runner.world import Limits, World

RESTORED = 1000
"""So many of a run's newest events say what it is doing, after a restart of the runner."""


async def follow(world: World, run: Run, sandbox: Sandbox) -> None:
    """Follow for at most `limits.attention_s`; finish the run when its harness, or its sandbox, is over.

    When the sandbox is frozen meanwhile, nothing more is to be heard of it.
    """
    try:
        async with world.freezes.unless(run.id):
            await _follow(world, run, sandbox)
    except WallsFell as error:
        await finish(world, run, Exit(None, Cause.FIREWALL, str(error)))
    except NotFound as error:
        await finish(world, run, Exit(None, Cause.SANDBOX_LOST, str(error)))


async def _follow(world: World, run: Run, sandbox: Sandbox) -> None:
    beat = world.clock.now()
    until = beat + timedelta(seconds=world.limits.attention_s)
    await world.sandboxes.renew(sandbox)
    run = await world.counted(run.id)
    await world.doings.restore(run.id, world.runs.events(run.id, run.events - RESTORED))
    pause_s = world.limits.poll_s
    while (now := world.clock.now()) < until and not run.cancelled_by:
        if now - beat >= timedelta(seconds=world.limits.heartbeat_s):
            await world.sandboxes.renew(sandbox)
            beat = now
        progress = await world.sandboxes.progress(sandbox, run.command, run.cursor)
        if progress.lines:
            run = await heed(world, run, progress)
            pause_s = world.limits.poll_s
            continue
        over = _over(world.limits, run, progress, now)
        if over:
            await finish(world, run, over)
            return
        wanted = await world.doings.pause(run.id, pause_s)
        pause_s = world.limits.poll_s if wanted else world.limits.longer(pause_s)
        run = await world.runs.get(run.id)


def _over(limits: Limits, run: Run, progress: Progress, now: datetime) -> Exit | None:
    """How the harness is over, by itself or because it is to be ended now; None while it works."""
    if not progress.running:
        return Exit(progress.exit_code, detail="the harness ended")
    if run.ending and now - run.ending.at > timedelta(seconds=limits.handover_s):
        return Exit(None, detail="the agent handed over, but its harness went on")
    if run.said and without_tools(run):
        return Exit(None, Cause.TOOLS, run.said.detail)
    if run.said and now - run.said.at > timedelta(seconds=limits.last_word_s):
        return Exit(None, Cause.HUNG, f"it said that it was over ({run.said.reason}) and went on")
    if now - (run.heard_at or run.since[RunState.RUNNING]) > timedelta(seconds=limits.silence_s):
        return Exit(None, Cause.SILENT, f"the harness said nothing for {limits.silence_s:.0f} s")
    return None
