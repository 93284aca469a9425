"""The step Settle: token revoked, evidence read, sandbox removed, work proposed, record written, shown.

Each part is idempotent.
Evidence is stored before the sandbox is removed, and the record is written before the run ends:
a crash in between loses nothing and doubles nothing.
"""

from dataclasses import asdict, replace
from typing import Any

import structlog

from entrance.errors import Conflict, Malformed, NotFound
from entrance.session import RunId
from orchestrator.domain.frozen import in_words, told
from orchestrator.domain.ledger import gateway_calls, ledger, out_of_money, trouble
from orchestrator.domain.run import (
    Cause,
    Exit,
    Outcome,
    Run,
    RunEvent,
    RunState,
    Said,
    after,
    changed,
)
from orchestrator.domain.verdict import Case, verdict
from orchestrator.ports import RunRecord
from orchestrator.runner.attaching import attach_attestations
from orchestrator.runner.heed import heed
from orchestrator.runner.proposing import packet_path, propose, propose_again
from orchestrator.runner.show import say_proposed, show
from orchestrator.runner.transcript import write_transcript
from orchestrator.runner.world import World

log = structlog.get_logger()

MOST_PAGES = 64
"""So much is still read of a harness that can't stop talking."""


async def settle(world: World, run: Run) -> None:
    """Bring a run from settling to ended. Raises: Unavailable; then it is done again."""
    world.door.close(run.id)
    run = await _read_the_rest(world, run)
    run = await _judge(world, run)
    await _put_away(world, run)
    run = await propose(world, run)
    run = await _record(world, run)
    await show(world, run)
    await world.githosts.forget(run.id)
    run = await world.note(
        run.id, "phase", {"state": str(RunState.ENDED), "outcome": str(run.outcome)}
    )
    now = world.clock.now()
    run = await world.amend(run.id, lambda r: after(r, RunEvent.SETTLED, now))
    world.outputs.forget(run.id)
    world.doings.forget(run.id)
    for hear in world.hear_ended:
        hear(run)
    log.info("run_ended", run=run.id, task=run.task, outcome=run.outcome, cause=run.cause)


async def proposed_later(world: World, run: Run) -> Run:
    """Open the pull request of a run that is over, and say so; or bring it up to date.

    For a push that was let through later, and a host that could not be reached before. Done twice it
    is done once. Raises: Conflict when nothing was submitted by it; Unavailable, Forbidden.
    """
    run = await propose_again(world, run)
    run = await _record(world, run)
    try:
        await say_proposed(world, run)
    except (Conflict, NotFound, Malformed) as error:
        log.warning("pull_request_not_shown", run=run.id, error=str(error))
    await world.githosts.forget(run.id)
    return run


async def push_arrived(world: World, run: RunId) -> None:
    """A push of the run was let through by a person, and the host has it: its work is proposed now.

    It may be told twice. Raises: Conflict while the run is settled, Unavailable: then it is to be
    told again.
    """
    try:
        now = await world.runs.get(run)
    except NotFound:
        return
    latest = await world.runs.latest(now.task)
    if latest and latest.ending and latest.ending.outcome is Outcome.SUBMITTED:
        now = latest  # what people review is the newest work
    if now.ending is None or now.ending.outcome is not Outcome.SUBMITTED:
        return
    if now.active:
        raise Conflict(f"run {now.id} is being settled")
    if now.outcome is Outcome.SUBMITTED:
        await proposed_later(world, now)


async def _put_away(world: World, run: Run) -> None:
    """The sandbox is removed and its disk unmounted; a frozen one stays for whoever looks into it."""
    await world.servers.end_of(run.id)
    if world.freezes.of(run.id):
        await world.sandboxes.freeze(run.id)
        return
    await world.sandboxes.kill(run.id)
    await world.disks.release(run.task)


async def _attach_servers(world: World, run: Run, item: str) -> None:
    for number, file in enumerate(world.servers.said_by(run.id), start=1):
        server = file.name.removeprefix(f"{run.id}.").partition(".")[0]
        await world.tracker.attach(item, f"server-{server}-{number}.log", file)


async def _judge(world: World, run: Run) -> Run:
    if run.outcome is not None:
        return run
    usage = await world.runs.usage(run.id)
    evidence = await world.sandboxes.evidence(run.id, run.task)
    lines = await world.trail(run)
    over = usage.cost_usd >= run.budget_usd or out_of_money(lines)
    case = Case(
        exit=_exit(world, run),
        ending=run.ending,
        evidence=replace(evidence, over_budget=over),
        trouble=trouble(lines),
        said=run.said.reason if run.said else "",
    )
    outcome, cause = verdict(case)
    facts = _facts(case, run.said)
    if frozen := world.freezes.of(run.id):
        facts["honeytoken"] = told(frozen)
    return await world.amend(
        run.id,
        lambda r: changed(
            r, exit=case.exit, outcome=outcome, cause=cause, evidence=facts, usage=usage
        ),
    )


def _exit(world: World, run: Run) -> Exit:
    """How it was over; whatever its harness did, an alarm goes before it."""
    frozen = world.freezes.of(run.id)
    return Exit(None, Cause.HONEYTOKEN, in_words(frozen)) if frozen else run.exit or Exit(None)


def _facts(case: Case, said: Said | None) -> dict[str, Any]:
    """What the verdict rests on, for the record."""
    facts = {"exit": asdict(case.exit), "host": asdict(case.evidence)}
    if case.trouble:
        facts["model"] = asdict(case.trouble)
    if said:
        facts["said"] = {"reason": said.reason, "detail": said.detail}
    return facts


async def _read_the_rest(world: World, run: Run) -> Run:
    """Store what the harness said after the last look; an ended run's transcript is whole."""
    readable = run.command and not world.freezes.of(run.id)
    sandbox = await world.sandboxes.find(run.id, world.execd_token(run.id)) if readable else None
    run = await world.counted(run.id)
    if sandbox is None:
        return run
    try:
        for _ in range(MOST_PAGES):
            progress = await world.sandboxes.progress(sandbox, run.command, run.cursor)
            if not progress.lines:
                break
            run = await heed(world, run, progress)
        await world.sandboxes.sweep(sandbox)
    except NotFound:
        log.info("sandbox_gone_before_its_end_was_read", run=run.id)
    return run


async def _record(world: World, run: Run) -> Run:
    lines = await world.trail(run)
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
    if (output := world.outputs.path(run.id)).exists():
        await world.tracker.attach(item, "output.log", output)
    await _attach_servers(world, run, item)
    await attach_attestations(world, run)
    if (packet := packet_path(world, run)).exists():
        await world.tracker.attach(item, "review-packet.md", packet)
    try:
        spent = await world.runs.engagement_usd(run.engagement)
        await world.tracker.spent(run.engagement, spent)
    except NotFound:
        log.warning("engagement_gone", run=run.id, engagement=run.engagement)
    return run
