"""The step Prepare: disk, sandbox, session, clone, harness; from the start again after a crash.

Nothing of an earlier try survives: its sandbox is killed and its token closed before a new one is
made, so a half-started harness can't go on unseen.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import structlog

from entrance.errors import NotFound, SandgateError, Unavailable
from entrance.push_policy import PushPolicy
from entrance.session import Authorship, RunId, hash_token, new_run_token
from orchestrator.domain.authors import authorship_of, environment_of
from orchestrator.domain.briefing import Briefing, brief
from orchestrator.domain.conversation import to_go_on_with
from orchestrator.domain.egress import Unreadable
from orchestrator.domain.grants import door_name, egress_of, folder_of, session_for
from orchestrator.domain.plan import WAKES
from orchestrator.domain.push_demand import tightened
from orchestrator.domain.run import Cause, Exit, Run, RunEvent, RunState, Trigger, after, changed
from orchestrator.domain.task import Task, TaskStatus
from orchestrator.domain.team import Agent, Engagement
from orchestrator.ports import Assignment, RunRecord, Sandbox, SandboxSpec, Start
from orchestrator.runner.planting import plant, whose_honeytokens
from orchestrator.runner.world import World

log = structlog.get_logger()

CLONE = """\
set -eu
if [ -d "$DIR/.git" ]; then
  git -C "$DIR" fetch --quiet --prune origin
else
  git clone --quiet --no-tags --branch "$BASE" -- "$URL" "$DIR"
fi
"""
CLONE_TIMEOUT_S = 600.0
PASSES = re.compile(
    r"returned error: 5\d\d|could not resolve|failed to connect|connection (refused|reset|timed out)"
    r"|early eof|unexpected disconnect|operation timed out|empty reply",
    re.IGNORECASE,
)
"""What git says when the way to the repository is broken now, and not the request wrong."""
ANY_FILE = 'IFS=; for each in $0; do [ -f "$each" ] && exit 0; done; exit 1'
"""Whether a file fits the pattern."""
EARLIER_RUNS = 50


class PreparationFailed(SandgateError):
    """The run can't be prepared, and another try would not help. The message is its evidence."""


@dataclass(frozen=True, slots=True)
class Order:
    """What a run is prepared from."""

    run: Run
    task: Task
    agent: Agent
    engagement: Engagement
    walls: Mapping[str, Any] = field(default_factory=dict)
    """What is known of the walls that it runs behind: the posture's report."""


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
        start = await _harness(world, order, sandbox, token)
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


async def _harness(world: World, order: Order, sandbox: Sandbox, token: str) -> Start:
    harness = world.harnesses.get(order.run.harness)
    if harness is None:
        known = ", ".join(sorted(world.harnesses))
        raise PreparationFailed(
            f"the harness {order.run.harness!r} is not known here ({known} are)"
        )
    workdir = await _clone(world, order.task, sandbox, token)
    earlier = await _earlier(world, order.run, sandbox, workdir)
    briefing = await _briefing(world, order, earlier)
    start = harness.start(
        Assignment(
            model=order.run.model,
            system=briefing.system,
            prompt=briefing.follow_up or briefing.prompt,
            entrance=world.entrance,
            run_token=token,
            workdir=workdir,
            dialect=world.dialects.get(order.run.model.partition(":")[0], ""),
            resume=earlier.conversation if earlier else "",
            env={
                **environment_of(authorship_of(order.agent, order.run), order.run),
                **world.egress.way_out(token),
            },
        )
    )
    for path, content in start.files.items():
        await world.sandboxes.write(sandbox, path, content)
    return start


async def _earlier(world: World, run: Run, sandbox: Sandbox, workdir: str) -> Run | None:
    """The run whose conversation goes on: its file must still be on the task's disk."""
    earlier = to_go_on_with(run, await world.runs.recent(EARLIER_RUNS, run.task))
    if earlier is None:
        return None
    pattern = world.harnesses[run.harness].kept_at(earlier.conversation, workdir)
    found = await world.sandboxes.execute(sandbox, ["sh", "-c", ANY_FILE, pattern])
    if found.exit_code != 0:
        return None
    # Known before the harness says it: one that can't read its conversation says nothing, and the
    # next run must not try the same again.
    await world.amend(run.id, lambda r: changed(r, conversation=earlier.conversation))
    return earlier


async def _authorship(world: World, order: Order) -> Authorship:
    """Its own commits, and those that the task's runs before may have left on the disk."""
    before = await world.runs.recent(EARLIER_RUNS, order.run.task)
    return authorship_of(order.agent, order.run, [run.id for run in before])


async def _clone(world: World, task: Task, sandbox: Sandbox, token: str) -> str:
    if not task.repository:
        return "/workspace"
    workdir = f"/workspace/{folder_of(task.repository)}"
    done = await world.sandboxes.execute(
        sandbox,
        ["sh", "-c", CLONE],
        env={
            "SANDGATE_RUN_TOKEN": token,
            "URL": f"{world.entrance}/git/{door_name(task.repository)}",
            "BASE": task.base_branch,
            "DIR": workdir,
        },
        timeout_s=CLONE_TIMEOUT_S,
    )
    if done.exit_code != 0:
        what = f"git could not clone {task.repository} at {task.base_branch}"
        why = f"{what} (exit {done.exit_code}): {done.output.strip()[-600:]}"
        raise Unavailable(why) if PASSES.search(done.output) else PreparationFailed(why)
    return workdir


async def _briefing(world: World, order: Order, earlier: Run | None) -> Briefing:
    return brief(
        agent=order.agent,
        engagement=order.engagement,
        task=order.task,
        thread=await world.tracker.thread(order.task.id),
        memories=await world.tracker.memories(order.task.project, order.agent.bot),
        trigger=order.run.trigger,
        since=earlier.created_at if earlier else None,
        internet=world.egress.reaches(order.run.id),
    )
