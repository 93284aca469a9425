"""The step Settle: token revoked, evidence read, sandbox removed, record written; each part idempotent.

Evidence is stored before the sandbox is removed, and the record is written before the run ends:
a crash in between loses nothing and doubles nothing.
"""

from dataclasses import asdict
from typing import Any

import structlog

from entrance.errors import NotFound
from entrance.ports import Usage
from orchestrator.domain.ledger import gateway_calls, ledger
from orchestrator.domain.plan import WAKES
from orchestrator.domain.run import Exit, Outcome, Run, RunEvent, RunState, after, changed
from orchestrator.domain.task import TaskStatus
from orchestrator.domain.verdict import Case, Evidence, verdict
from orchestrator.ports import RunRecord
from orchestrator.runner.follow import events_of
from orchestrator.runner.transcript import write_transcript
from orchestrator.runner.world import World

log = structlog.get_logger()

MOST_PAGES = 64
"""So much is still read of a harness that can't stop talking."""


async def settle(world: World, run: Run) -> None:
    """Bring a run from settling to ended. Raises: Unavailable; then it is done again."""
    world.door.close(run.id)
    run = await _judge(world, run)
    await _read_the_rest(world, run)
    await world.sandboxes.kill(run.id)
    await world.disks.release(run.task)
    run = await _record(world, run)
    await _tell_people(world, run)
    run = await world.note(
        run.id, "phase", {"state": str(RunState.ENDED), "outcome": str(run.outcome)}
    )
    now = world.clock.now()
    await world.amend(run.id, lambda r: after(r, RunEvent.SETTLED, now))
    log.info("run_ended", run=run.id, task=run.task, outcome=run.outcome, cause=run.cause)


async def _judge(world: World, run: Run) -> Run:
    if run.outcome is not None:
        return run
    usage = await world.runs.usage(run.id)
    evidence = await world.sandboxes.evidence(run.id, run.task)
    case = Case(run.exit or Exit(None), run.ending, _with_budget(evidence, usage, run))
    outcome, cause = verdict(case)
    facts: dict[str, Any] = {"exit": asdict(case.exit), "host": asdict(case.evidence)}
    return await world.amend(
        run.id, lambda r: changed(r, outcome=outcome, cause=cause, evidence=facts, usage=usage)
    )


def _with_budget(evidence: Evidence, usage: Usage, run: Run) -> Evidence:
    return Evidence(
        oom_kills=evidence.oom_kills,
        pids_refused=evidence.pids_refused,
        disk_free_bytes=evidence.disk_free_bytes,
        over_budget=usage.cost_usd >= run.budget_usd,
    )


async def _read_the_rest(world: World, run: Run) -> None:
    """Store what the harness said after the last look; an ended run's transcript is whole."""
    sandbox = await world.sandboxes.find(run.id, world.execd_token(run.id)) if run.command else None
    if sandbox is None:
        return
    harness = world.harnesses[run.harness]
    run = await world.counted(run.id)
    try:
        for _ in range(MOST_PAGES):
            progress = await world.sandboxes.progress(sandbox, run.command, run.cursor)
            if not progress.lines:
                break
            run = await world.tell(run.id, events_of(harness, progress.lines), progress.cursor)
        await world.sandboxes.sweep(sandbox)
    except NotFound:
        log.info("sandbox_gone_before_its_end_was_read", run=run.id)


async def _record(world: World, run: Run) -> Run:
    lines = await world.trail(run.id)
    record = RunRecord(
        run=run,
        title=f"Run {run.id} of {run.task}: {run.outcome}",
        engagement=run.engagement,
        ledger=ledger(lines),
        gateway_calls=gateway_calls(lines),
    )
    item = await world.tracker.record(record)
    run = await world.amend(run.id, lambda r: changed(r, record=item))
    await world.tracker.attach(item, "transcript.jsonl", await write_transcript(world, run, lines))
    await world.tracker.spent(run.engagement, await world.runs.engagement_usd(run.engagement))
    return run


async def _tell_people(world: World, run: Run) -> None:
    """Say on the task how a run ended that its agent didn't end itself."""
    if run.outcome not in {Outcome.FAILED, Outcome.STOPPED}:
        return
    detail = run.exit.detail if run.exit else ""
    text = f"The run ended {run.outcome} ({run.cause}). {detail}\nRecord: {run.record}"
    await world.tracker.comment(run.task, f"Run {run.id} {run.outcome}", text)
    task = await world.tracker.task(run.task)
    if task and task.status in WAKES:  # it never came to be started; left so, it would start again
        await world.tracker.act(run.task, "start")
        await world.tracker.act(run.task, "fail")
    if task and task.status is TaskStatus.IN_PROGRESS:
        await world.tracker.act(run.task, "fail")
