"""The step Follow: what the harness says is stored as events, until it is over or wants attention."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from entrance.errors import NotFound
from orchestrator.domain.run import Cause, Exit, Run, RunState
from orchestrator.ports import Harness, Progress, Sandbox
from orchestrator.runner.finish import finish
from orchestrator.runner.world import OWN, Limits, World


async def follow(world: World, run: Run, sandbox: Sandbox) -> None:
    """Follow for at most `limits.attention_s`; finish the run when its harness, or its sandbox, is over."""
    try:
        await _follow(world, run, sandbox)
    except NotFound as error:
        await finish(world, run, Exit(None, Cause.SANDBOX_LOST, str(error)))


async def _follow(world: World, run: Run, sandbox: Sandbox) -> None:
    harness = world.harnesses[run.harness]
    beat = world.clock.now()
    until = beat + timedelta(seconds=world.limits.attention_s)
    await world.sandboxes.renew(sandbox)
    run = await world.counted(run.id)
    while (now := world.clock.now()) < until and not run.cancelled_by:
        if now - beat >= timedelta(seconds=world.limits.heartbeat_s):
            await world.sandboxes.renew(sandbox)
            beat = now
        progress = await world.sandboxes.progress(sandbox, run.command, run.cursor)
        if progress.lines:
            run = await world.tell(run.id, events_of(harness, progress.lines), progress.cursor)
            continue
        over = _over(world.limits, run, progress, now)
        if over:
            await finish(world, run, over)
            return
        await asyncio.sleep(world.limits.poll_s)
        run = await world.runs.get(run.id)


def events_of(harness: Harness, lines: Sequence[str]) -> list[tuple[str, Mapping[str, Any]]]:
    """A harness's lines as events; one that passes itself off as our own is `raw`."""
    read = [harness.read(line) for line in lines]
    return [("raw", {"text": str(data)}) if kind == OWN else (kind, data) for kind, data in read]


def _over(limits: Limits, run: Run, progress: Progress, now: datetime) -> Exit | None:
    """How the harness is over, by itself or because it is to be ended now; None while it works."""
    if not progress.running:
        return Exit(progress.exit_code, detail="the harness ended")
    if run.ending and now - run.ending.at > timedelta(seconds=limits.handover_s):
        return Exit(None, detail="the agent handed over, but its harness went on")
    if now - (run.heard_at or run.since[RunState.RUNNING]) > timedelta(seconds=limits.silence_s):
        return Exit(None, Cause.SILENT, f"the harness said nothing for {limits.silence_s:.0f} s")
    return None
