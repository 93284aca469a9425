"""The step Prepare: disk, sandbox, session, clone, harness; from the start again after a crash.

Nothing of an earlier try survives: its sandbox is killed and its token closed before a new one is
made, so a half-started harness can't go on unseen.
"""

from dataclasses import replace

import structlog

from entrance.errors import NotFound, SandgateError, Unavailable
from entrance.push_policy import PushPolicy
from entrance.session import Authorship, RunId, hash_token, new_run_token
from orchestrator.domain.authors import authorship_of
from orchestrator.domain.egress import Unreadable
from orchestrator.domain.grants import egress_of, session_for
from orchestrator.domain.plan import WAKES
from orchestrator.domain.push_demand import tightened
from orchestrator.domain.run import Cause, Exit, Run, RunEvent, RunState, Trigger, after, changed
from orchestrator.domain.task import Task, TaskStatus
from orchestrator.ports import RunRecord, Sandbox, SandboxSpec
from orchestrator.runner.assigning import assign
from orchestrator.runner.order import EARLIER_RUNS, Order, PreparationFailed
from orchestrator.runner.planting import plant, whose_honeytokens
from orchestrator.runner.world import World

log = structlog.get_logger()


async def prepare(world: World, order: Order) -> None:
    """Bring a run from queued or preparing to running, or to settling when it can't be prepared.

    Raises: Unavailable, when something can't be reached now (the step is then done again later).
    """
    run = order.run.id
    await _enter(world, order.run)
    await clear(world, run)
    if action := start_of(order.run, order.task):
        await world.tracker.act(order.task.id, action)
    order = replace(order, run=await _open_record(world, order.run))
    token = new_run_token()
    try:
        order = replace(order, run=await _told_egress(world, order))
        sandbox = await _sandbox(world, order, token)
        start = await assign(world, order, sandbox, token)
        command = await world.sandboxes.start(sandbox, start.argv, env=start.env, cwd=start.cwd)
    except Unavailable:
        await clear(world, run)
        raise
    except SandgateError as error:
        log.warning("preparation_failed", run=run, error=str(error))
        await clear(world, run)
        failed = Exit(None, Cause.PREPARATION, str(error))
        await world.amend(run, lambda r: after(r, RunEvent.OVER, world.clock.now(), exit=failed))
        return
    now = world.clock.now()
    await world.amend(
        run, lambda r: after(r, RunEvent.HARNESS_STARTED, now, command=command, cursor=-1)
    )
    await world.note(run, "phase", {"state": str(RunState.RUNNING)})


def start_of(run: Run, task: Task) -> str:
    """The action that puts the task into progress; empty when it is, or people have moved it."""
    if task.status in WAKES:
        return "start"
    waits = task.status is TaskStatus.WAITING_INPUT
    return "resume" if waits and run.trigger is Trigger.SUBTASK_DONE else ""


async def clear(world: World, run: RunId) -> None:
    """Close the run's token and kill its sandbox, if there is any. A frozen one stays."""
    world.door.close(run)
    if world.freezes.of(run) is None:
        await world.sandboxes.kill(run)


async def _enter(world: World, run: Run) -> None:
    now = world.clock.now()
    await world.amend(run.id, lambda r: after(r, RunEvent.PREPARE, now))
    if run.state is RunState.QUEUED:
        await world.note(run.id, "phase", {"state": str(RunState.PREPARING)})


async def _open_record(world: World, run: Run) -> Run:
    """The record exists from the start: what the agent makes is linked to it."""
    title = f"Run {run.id} of {run.task}"
    item = await world.tracker.record(RunRecord(run, title, run.engagement, {}, []))
    return await world.amend(run.id, lambda r: changed(r, record=item))


async def _told_egress(world: World, order: Order) -> Run:
    """The run keeps what was said of the internet when it began. Raises: PreparationFailed."""
    said = egress_of(order.agent, order.engagement)
    if isinstance(said, Unreadable):
        raise PreparationFailed(f"what it may reach of the internet can't be read: {said.reason}")
    return await world.amend(order.run.id, lambda r: changed(r, egress=said))


def _push_policy(world: World, order: Order) -> PushPolicy:
    """What holds for the run's pushes from its start. Raises: PreparationFailed."""
    said = order.engagement.pushes
    if isinstance(said, Unreadable):
        raise PreparationFailed(f"what is asked of its pushes can't be read: {said.reason}")
    return tightened(world.pushes, said)


async def _sandbox(world: World, order: Order, token: str) -> Sandbox:
    run = order.run
    mounts = await world.disks.ensure(run.task)
    spec = SandboxSpec(
        run=run.id,
        task=run.task,
        execd_token=world.execd_token(run.id),
        mounts=mounts,
        harness=run.harness,
        env=world.egress.environment(run),
    )
    push_policy = _push_policy(world, order)
    sandbox = await world.sandboxes.create(spec)
    session = session_for(
        run,
        order.task,
        order.engagement,
        address=sandbox.address,
        token_sha256=hash_token(token),
        sandbox=sandbox.id,
        image=str(sandbox.facts.get("image_id", "")),
        authorship=await _authorship(world, order),
        push_policy=push_policy,
        lender=await _lender(world, order.task),
        honeytokens=await whose_honeytokens(world, run),
    )
    facts = {**sandbox.facts, **({"posture": dict(order.walls)} if order.walls else {})}
    await world.amend(
        run.id, lambda r: changed(r, session=session, sandbox=sandbox.id, facts=facts)
    )
    world.door.open(session)
    await _let_out(world, run)
    await plant(world, sandbox, run.id)
    return sandbox


async def _let_out(world: World, run: Run) -> None:
    """Nothing runs in the sandbox before the proxy has its policy. Raises: Unavailable."""
    missing = await world.egress.admit(run)
    if missing:
        state = str(RunState.PREPARING)
        await world.note_once(run.id, "phase", {"state": state, "egress": "; ".join(missing)})


async def _lender(world: World, task: Task) -> Run | None:
    """The run whose money is spent on a delegated task, too; None when it isn't known any more."""
    if task.delegated_by is None:
        return None
    try:
        return await world.runs.get(task.delegated_by)
    except NotFound:
        log.warning("lender_not_known", task=task.id, run=task.delegated_by)
        return None


async def _authorship(world: World, order: Order) -> Authorship:
    """Its own commits, and those that the task's runs before may have left on the disk."""
    before = await world.runs.recent(EARLIER_RUNS, order.run.task)
    return authorship_of(order.agent, order.run, [run.id for run in before])
