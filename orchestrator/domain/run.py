"""A run: its states, how they follow each other, how it can end, and of what [pure].

RULES: whatever changes a run's state goes through `after()`, and `TRANSITIONS` is the only place
where it is said what may follow what. The reference page is made from it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from itertools import pairwise
from typing import Any

from entrance.ports import Usage
from entrance.session import RunId, Session, TaskId
from orchestrator.domain.egress_compile import Layer


class RunState(StrEnum):
    """Where a run is."""

    QUEUED = "queued"
    PREPARING = "preparing"
    RUNNING = "running"
    SETTLING = "settling"
    ENDED = "ended"


class RunEvent(StrEnum):
    """What moves a run on."""

    PREPARE = "prepare"
    HARNESS_STARTED = "harness_started"
    OVER = "over"
    SETTLED = "settled"


TRANSITIONS: Mapping[tuple[RunState, RunEvent], RunState] = {
    (RunState.QUEUED, RunEvent.PREPARE): RunState.PREPARING,
    (RunState.QUEUED, RunEvent.OVER): RunState.SETTLING,
    (RunState.PREPARING, RunEvent.PREPARE): RunState.PREPARING,
    (RunState.PREPARING, RunEvent.HARNESS_STARTED): RunState.RUNNING,
    (RunState.PREPARING, RunEvent.OVER): RunState.SETTLING,
    (RunState.RUNNING, RunEvent.OVER): RunState.SETTLING,
    (RunState.SETTLING, RunEvent.SETTLED): RunState.ENDED,
}

STATES: Mapping[RunState, str] = {
    RunState.QUEUED: "The run exists and waits for a free place.",
    RunState.PREPARING: "Disk, sandbox, clone and harness are being made; starts over after a crash.",
    RunState.RUNNING: "The harness works; its output is followed, its time and budget are watched.",
    RunState.SETTLING: (
        "The harness is over: token revoked, evidence read, sandbox removed, work proposed, record written."
    ),
    RunState.ENDED: "Everything is in the record. Nothing follows.",
}


class Outcome(StrEnum):
    """How a run ended, as a person needs to know it."""

    SUBMITTED = "submitted"
    ASKED = "asked"
    DELEGATED = "delegated"
    HELD = "held"
    FAILED = "failed"
    STOPPED = "stopped"


class Cause(StrEnum):
    """Of what a run ended, always with evidence in the record."""

    HANDED_OVER = "handed_over"
    NO_HANDOVER = "no_handover"
    CANCELLED = "cancelled"
    DEADLINE = "deadline"
    SILENT = "silent"
    BUDGET = "budget"
    OOM = "oom"
    PIDS = "pids"
    DISK = "disk"
    SANDBOX_LOST = "sandbox_lost"
    FIREWALL = "firewall"
    PREPARATION = "preparation"
    RATE_LIMIT = "rate_limit"
    MODEL_UNAVAILABLE = "model_unavailable"
    CREDENTIAL = "credential"
    CONTEXT_OVERFLOW = "context_overflow"
    TOOLS = "tools"
    LOOP = "loop"
    HUNG = "hung"
    HARNESS_ERROR = "harness_error"
    HONEYTOKEN = "honeytoken"


CAUSES: Mapping[Cause, str] = {
    Cause.HANDED_OVER: "The agent submitted, asked, delegated or waits; the gateway recorded the call.",
    Cause.NO_HANDOVER: "The agent stopped without submitting, asking or delegating.",
    Cause.CANCELLED: "A person cancelled the run.",
    Cause.DEADLINE: "The run's time was over.",
    Cause.SILENT: "The harness gave no sign of life for too long.",
    Cause.BUDGET: "The run's or the engagement's budget was spent; the model gateway refused to go on.",
    Cause.OOM: "The kernel killed something in the sandbox for memory (host counter), and the run failed.",
    Cause.PIDS: "The sandbox reached its limit of processes (host counter), and the run failed.",
    Cause.DISK: "The task's disk is full (measured on the host), and the run failed.",
    Cause.SANDBOX_LOST: "The sandbox or its execd is gone.",
    Cause.FIREWALL: "The sandbox was ended by us: its firewall was down, and could not be put up again.",
    Cause.PREPARATION: "Disk, sandbox, clone or harness could not be made; the evidence says which.",
    Cause.RATE_LIMIT: "The provider's rate limit; the evidence says when it lifts, if the provider said so.",
    Cause.MODEL_UNAVAILABLE: "The provider could not be reached, failed, or broke off, too often.",
    Cause.CREDENTIAL: "The provider refused our key or our account, or no key is set up; a person must look.",
    Cause.CONTEXT_OVERFLOW: "The conversation no longer fits the model, and could not be made to fit.",
    Cause.TOOLS: "The harness could not reach its tools at the door.",
    Cause.LOOP: "The agent did the same thing over and over.",
    Cause.HUNG: "The harness said that it was over, but its process went on.",
    Cause.HARNESS_ERROR: "The harness ended by an error of its own.",
    Cause.HONEYTOKEN: "A credential that is nobody's was about to leave the sandbox, which is frozen since.",
}


class Trigger(StrEnum):
    """Why a run was started."""

    ASSIGNED = "assigned"
    SENT_BACK = "sent_back"
    ANSWERED = "answered"
    SUBTASK_DONE = "subtask_done"
    HOLD_DECIDED = "hold_decided"


@dataclass(frozen=True, slots=True)
class Tried:
    """A test as an agent tells of it. `result`: passed, failed or not_run."""

    command: str
    result: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Work:
    """What an agent says of its work as it submits it."""

    words: str
    branch: str = ""
    tests: tuple[Tried, ...] = ()
    not_verified: str = ""


@dataclass(frozen=True, slots=True)
class PullRequest:
    """What became of the pull request for a run's work; `none` says why there is none."""

    branch: str = ""
    number: int = 0
    url: str = ""
    none: str = ""
    failed: bool = False
    """Whether one was to be opened, and could not be."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How the agent handed over: the successful call of a Polarion tool that ends a run."""

    outcome: Outcome
    summary: str
    at: datetime
    given: str = ""
    """The work item that somebody is given by it: the task itself, or a delegated part of it."""
    to: str = ""
    """The user who is given it."""
    work: Work | None = None
    """What was submitted."""


@dataclass(frozen=True, slots=True)
class Exit:
    """How the harness was over. `code` None: it is not known, which is never success."""

    code: int | None
    cause: Cause | None = None
    """Set when we, not the harness, ended it: cancelled, deadline, silent, hung, firewall and the like."""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Said:
    """What the harness said of its own end. It proves nothing, but it helps to tell failures apart.

    `reason` is one of: completed, submitted, asked, delegated, held, error, loop, max_turns, context,
    tools, interrupted; anything else that a sandbox may say counts as none of them.
    """

    reason: str
    detail: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Run:
    """One attempt of one agent at one task. `version` counts its changes (compare-and-set)."""

    id: RunId
    task: TaskId
    project: str
    agent: str
    engagement: str
    trigger: Trigger
    harness: str
    model: str
    created_at: datetime
    deadline_at: datetime
    state: RunState = RunState.QUEUED
    since: Mapping[str, datetime] = field(default_factory=dict)
    """When each state was first entered, by state; the phases' seconds come from it."""
    egress: tuple[Layer, ...] = ()
    """What its agent and its engagement said of the internet when it was prepared."""
    session: Session | None = None
    sandbox: str = ""
    command: str = ""
    cursor: int = -1
    """The last line of the harness's output that is stored as an event."""
    events: int = 0
    """How many events are stored: the next one's `seq`."""
    heard_at: datetime | None = None
    """When the harness last said something."""
    conversation: str = ""
    """The harness's id of its conversation: a later run of the task may go on with it."""
    said: Said | None = None
    """The harness's last word, while nothing followed it."""
    cancelled_by: str = ""
    ending: Ending | None = None
    exit: Exit | None = None
    outcome: Outcome | None = None
    cause: Cause | None = None
    evidence: Mapping[str, Any] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    """The sandbox's facts: image, limits, network, server version."""
    pull_request: PullRequest | None = None
    """None: it isn't known yet, or nothing was submitted."""
    record: str = ""
    """The agentRun work item's id, once it exists."""
    usage: Usage = field(default_factory=Usage)
    budget_usd: Decimal = Decimal(0)
    version: int = 0

    @property
    def active(self) -> bool:
        return self.state is not RunState.ENDED


def after(run: Run, event: RunEvent, at: datetime, **changes: Any) -> Run:
    """The run after `event`, with `changes`; its version goes up by one.

    Raises: ValueError when the table has no such transition.
    """
    state = TRANSITIONS.get((run.state, event))
    if state is None:
        raise ValueError(f"run {run.id} is {run.state}: {event} can't follow")
    since = {**run.since, str(state): run.since.get(str(state), at)}
    return replace(run, state=state, since=since, version=run.version + 1, **changes)


def changed(run: Run, **changes: Any) -> Run:
    """The run with `changes` in the same state; its version goes up by one."""
    return replace(run, version=run.version + 1, **changes)


def phases(run: Run) -> dict[str, float]:
    """Seconds spent in each state that the run has left, by state, in order of time."""
    entered = sorted((at, state) for state, at in run.since.items())
    return {
        state: round((later - at).total_seconds(), 3)
        for (at, state), (later, _) in pairwise(entered)
    }
