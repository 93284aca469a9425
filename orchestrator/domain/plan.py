"""What to do next about one task, from what was observed [pure].

Level-triggered: it is asked again after every step and after every crash, so a step may be
planned twice and must be idempotent.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from orchestrator.domain.delegation import Part, all_over
from orchestrator.domain.egress import Unreadable
from orchestrator.domain.grants import egress_of, grant_for
from orchestrator.domain.run import Cause, Exit, Outcome, Run, RunState, Trigger
from orchestrator.domain.task import Task, TaskStatus
from orchestrator.domain.team import Agent, Engagement


class SandboxState(StrEnum):
    """What became of a run's sandbox."""

    NONE = "none"
    LIVE = "live"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class Observed:
    """The world around one task, read afresh."""

    now: datetime
    task: Task | None
    run: Run | None
    """The task's active run, or its latest."""
    engagement: Engagement | None = None
    agent: Agent | None = None
    agent_busy: bool = False
    """The same agent has an active run on another task."""
    sandbox: SandboxState = SandboxState.NONE
    harnesses: frozenset[str] = frozenset()
    """Those whose program is in a sandbox image here."""
    unspoken: str = ""
    """Why the agent's harness can't talk to its model; empty when it can."""
    parts: tuple[Part, ...] = ()
    """What was delegated from the task; looked at only while it waits."""
    frozen: str = ""
    """What froze the task's sandbox, and what is to be done; empty when it isn't frozen."""
    closed: str = ""
    """Why no run may start at all now (posture probe failing); empty when one may."""


@dataclass(frozen=True, slots=True)
class StartRun:
    """Make a run record; from then on the run owns the task and the agent."""

    trigger: Trigger


@dataclass(frozen=True, slots=True)
class Prepare:
    """Make disk, sandbox, session, clone, and start the harness."""


@dataclass(frozen=True, slots=True)
class Follow:
    """Store what the harness says until it is over, or something else wants attention."""


@dataclass(frozen=True, slots=True)
class Finish:
    """The harness is over, or is to be ended now."""

    exit: Exit


@dataclass(frozen=True, slots=True)
class Settle:
    """Revoke, read evidence, remove the sandbox, write the record."""


@dataclass(frozen=True, slots=True)
class Wait:
    """Look again later, for this reason."""

    reason: str


@dataclass(frozen=True, slots=True)
class Refuse:
    """Tell people on the task why it can't be run, and fail it."""

    reason: str


@dataclass(frozen=True, slots=True)
class Idle:
    """There is nothing to do."""


Step = StartRun | Prepare | Follow | Finish | Settle | Wait | Refuse | Idle

WAKES: Mapping[TaskStatus, Trigger] = {
    TaskStatus.OPEN: Trigger.ASSIGNED,
    TaskStatus.SENT_BACK: Trigger.SENT_BACK,
    TaskStatus.ANSWERED: Trigger.ANSWERED,
}
"""The statuses in which a task waits for its agent, and what they mean to the run."""

LOOKED_AT = (*WAKES, TaskStatus.WAITING_INPUT)
"""The statuses in which there may be something to do for an agent that has the task."""


def plan(seen: Observed) -> Step:
    """The one next step for the task."""
    if seen.run is None or not seen.run.active:
        return _between_runs(seen)
    if seen.frozen and seen.run.state is not RunState.SETTLING:
        return Finish(Exit(None, Cause.HONEYTOKEN, seen.frozen))
    return _DURING[seen.run.state](seen, seen.run)


def _between_runs(seen: Observed) -> Step:
    trigger = _trigger(seen)
    if seen.task is None or trigger is None or seen.engagement is None:
        return Idle()
    if seen.frozen:
        return Wait(seen.frozen)
    if seen.closed:
        return Wait(seen.closed)
    if seen.agent_busy:
        return Wait(f"{seen.engagement.bot} is busy with another task")
    refusal = refusal_of(seen.task, seen.engagement, seen.agent, seen.harnesses)
    refusal = refusal or (f"{seen.unspoken}, then retry." if seen.unspoken else "")
    refusal = refusal or _egress_refusal(seen.engagement, seen.agent)
    refusal = refusal or _push_refusal(seen.engagement)
    return Refuse(refusal) if refusal else StartRun(trigger)


def _trigger(seen: Observed) -> Trigger | None:
    """Why its agent is to have the task now, whoever else may be in the way; None: it isn't."""
    if seen.task is None:
        return None
    if waits_for_parts(seen.task, seen.run):
        return Trigger.SUBTASK_DONE if all_over(seen.parts) else None
    trigger = WAKES.get(seen.task.status)
    waited = seen.run is not None and seen.run.outcome is Outcome.HELD
    return Trigger.HOLD_DECIDED if waited and trigger is Trigger.ANSWERED else trigger


def waits_for_parts(task: Task, run: Run | None) -> bool:
    """Whether the task waits because its newest run delegated a part of it."""
    delegated = run is not None and run.outcome is Outcome.DELEGATED
    return delegated and task.status is TaskStatus.WAITING_INPUT


def refusal_of(
    task: Task, engagement: Engagement, agent: Agent | None, harnesses: frozenset[str]
) -> str:
    """Why this task can't be run here under this engagement, as a sentence; empty when it can."""
    if agent is None:
        return f"No agent of the pool has the bot user {engagement.bot}; create it, then retry."
    if agent.harness not in harnesses:
        return (
            f"No sandbox of this installation holds the harness {agent.harness} of {agent.bot}; "
            f"add it with `sandgate up --harness {agent.harness}`, then retry."
        )
    if engagement.left_usd <= 0:
        return (
            f"The budget of engagement {engagement.id} is spent "
            f"({engagement.spent_usd} of {engagement.budget_usd} USD); raise it, then retry."
        )
    if agent.model not in engagement.grants.models:
        return f"Engagement {engagement.id} doesn't grant the model {agent.model}; grant it, then retry."
    if task.repository and grant_for(engagement.grants, task.repository) is None:
        return (
            f"Engagement {engagement.id} doesn't grant the repository {task.repository}; "
            "grant it, then retry."
        )
    return ""


def _egress_refusal(engagement: Engagement, agent: Agent | None) -> str:
    """Why nobody can say what the run may reach, as a sentence; empty when it is clear."""
    said = egress_of(agent, engagement) if agent else ()
    if not isinstance(said, Unreadable):
        return ""
    return f"What it may reach of the internet can't be read: {said.reason}. Mend it, then retry."


def _push_refusal(engagement: Engagement) -> str:
    """Why nobody can say what is asked of its pushes, as a sentence; empty when it is clear."""
    said = engagement.pushes
    if not isinstance(said, Unreadable):
        return ""
    return f"What is asked of its pushes can't be read: {said.reason}. Mend it, then retry."


def _queued(seen: Observed, run: Run) -> Step:
    if run.cancelled_by:
        return Finish(Exit(None, Cause.CANCELLED, f"cancelled by {run.cancelled_by}"))
    return Wait(seen.closed) if seen.closed else Prepare()


def _preparing(seen: Observed, run: Run) -> Step:
    if run.cancelled_by:
        return Finish(Exit(None, Cause.CANCELLED, f"cancelled by {run.cancelled_by}"))
    if seen.now >= run.deadline_at:
        return Finish(Exit(None, Cause.DEADLINE, "the deadline passed while preparing"))
    return Wait(seen.closed) if seen.closed else Prepare()


def _running(seen: Observed, run: Run) -> Step:
    if run.cancelled_by:
        return Finish(Exit(None, Cause.CANCELLED, f"cancelled by {run.cancelled_by}"))
    if seen.sandbox is not SandboxState.LIVE:
        return Finish(Exit(None, Cause.SANDBOX_LOST, f"the sandbox is {seen.sandbox}"))
    if seen.now >= run.deadline_at:
        return Finish(Exit(None, Cause.DEADLINE, f"the deadline {run.deadline_at:%H:%M:%S} passed"))
    return Follow()


def _settling(_seen: Observed, _run: Run) -> Step:
    return Settle()


def _ended(_seen: Observed, _run: Run) -> Step:
    return Idle()


_DURING: Mapping[RunState, Callable[[Observed, Run], Step]] = {
    RunState.QUEUED: _queued,
    RunState.PREPARING: _preparing,
    RunState.RUNNING: _running,
    RunState.SETTLING: _settling,
    RunState.ENDED: _ended,
}
