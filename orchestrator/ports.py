"""What running agents needs of the world. Everything may raise `entrance.errors`."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, Protocol

from entrance.errors import NotFound
from entrance.ports import Usage
from entrance.session import RunId, TaskId
from orchestrator.domain.frozen import Frozen
from orchestrator.domain.run import Run
from orchestrator.domain.task import Comment, Task
from orchestrator.domain.team import Agent, Engagement, Grants
from orchestrator.domain.verdict import Evidence


class Clock(Protocol):
    """Where time comes from."""

    def now(self) -> datetime:
        """The time, aware, UTC."""
        ...


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened in a run, as the live view and the transcript show it.

    `seq` counts from 0 in each run, without gaps. `kind` is the harness-neutral type (text,
    tool_call, tool_result, usage, phase, ended, raw...), `data` its facts.
    """

    seq: int
    at: datetime
    kind: str
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RunRecord:
    """What the agentRun work item says of a run; text fields are JSON."""

    run: Run
    title: str
    engagement: str
    ledger: Mapping[str, Any]
    gateway_calls: Sequence[Mapping[str, Any]]


class Tracker(Protocol):
    """Polarion, as the runner's service user: what is to be done, and the record of what was."""

    async def engagements(self) -> Sequence[Engagement]:
        """All active engagements, of all projects."""
        ...

    async def waking(self, engagements: Sequence[Engagement]) -> Sequence[Task]:
        """Tasks `LOOKED_AT` that one of these agents has in the project that hired it."""
        ...

    async def task(self, task: TaskId) -> Task | None:
        """The task now, or None when it is gone."""
        ...

    async def thread(self, task: TaskId) -> Sequence[Comment]:
        """The task's comments, oldest first. Raises: NotFound."""
        ...

    async def agent(self, bot: str) -> Agent | None:
        """The pool's active agent with this bot user, with its approved skills."""
        ...

    async def memories(self, project: str, bot: str) -> Sequence[str]:
        """The active memories of the agent with this bot user in the project, oldest first."""
        ...

    async def act(self, task: TaskId, action: str, *, assign: str = "") -> None:
        """Do a workflow action; with it, and only with it, `assign` becomes the one assignee.

        Raises: NotFound; Conflict when the task's status doesn't have the action, or something
        that it requires is missing.
        """
        ...

    async def assign(self, item: str, user: str) -> None:
        """Give a work item to a user, unless somebody has it. Raises: NotFound."""
        ...

    async def comment(self, task: TaskId, title: str, text: str) -> None:
        """Say something on the task, once: the same words under the same title aren't repeated.

        The words count too: else an agent's comment could keep ours from being said.
        Raises: NotFound.
        """
        ...

    async def record(self, record: RunRecord) -> str:
        """Make or update the run's agentRun work item and return its id.

        It is found by `run.record`, else by its run key; linked to task and engagement once; ended
        as soon as the run has an outcome.
        """
        ...

    async def attach(self, item: str, name: str, path: Path) -> None:
        """Attach a file, unless one of that name is attached already. Raises: NotFound."""
        ...

    async def spent(self, engagement: str, total_usd: Decimal) -> None:
        """Write what the engagement has spent in all: a total, not an addition. Raises: NotFound."""
        ...


class Runs(Protocol):
    """Operational state: runs, their events and what they spend. It can be lost without losing history."""

    async def create(self, run: Run) -> None:
        """Store a new run. Raises: Conflict when its task or its agent has an active run."""
        ...

    async def replace(self, run: Run) -> None:
        """Store a changed run. Raises: Conflict unless the stored version is `run.version - 1`."""
        ...

    async def get(self, run: RunId) -> Run:
        """Raises: NotFound."""
        ...

    async def latest(self, task: TaskId) -> Run | None:
        """The task's active run, or its newest."""
        ...

    async def active(self) -> Sequence[Run]:
        """All runs that haven't ended."""
        ...

    async def recent(self, limit: int, task: TaskId | None = None) -> Sequence[Run]:
        """The newest runs (of one task, or of all), newest first."""
        ...

    async def add_events(self, run: RunId, events: Sequence[Event]) -> None:
        """Store events; ones that are there already (same run and seq) are left alone."""
        ...

    def events(self, run: RunId, after: int = -1) -> AsyncIterator[Event]:
        """The run's stored events with a higher seq, in order."""
        ...

    async def usage(self, run: RunId) -> Usage:
        """What the run has used so far."""
        ...

    async def engagement_usd(self, engagement: str) -> Decimal:
        """What all runs of an engagement have cost so far, in US dollars."""
        ...


@dataclass(frozen=True, slots=True)
class Mounts:
    """Host folders of a task's capped disk, for its sandbox."""

    workspace: Path
    home: Path


@dataclass(frozen=True, slots=True)
class Volumes:
    """Names of the engine's volumes that are a task's disk, where it is watched and not capped."""

    workspace: str
    home: str


class Disks(Protocol):
    """One disk a task, for /workspace and $HOME."""

    async def ensure(self, task: TaskId) -> Mounts | Volumes:
        """Make the task's disk if need be and mount it. Raises: Unavailable (host disk full, not root)."""
        ...

    async def release(self, task: TaskId) -> None:
        """Unmount it; the image and what is on it stay."""
        ...

    async def purge(self, task: TaskId) -> None:
        """Remove it with all that is on it. Idempotent. Raises: Conflict when somebody uses it."""
        ...


@dataclass(frozen=True, slots=True)
class SandboxSpec:
    """The sandbox that a run asks for. It gets exactly this, or is killed."""

    run: RunId
    task: TaskId
    execd_token: str
    mounts: Mounts | Volumes
    harness: str
    """Whose program it holds; the image is chosen by it."""
    env: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Sandbox:
    """A live sandbox: OpenSandbox's id, its address on the sandbox network, and facts for the record."""

    id: str
    address: str
    execd_token: str = field(repr=False)
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Completed:
    """A short command that ran to its end. `exit_code` None: lost."""

    exit_code: int | None
    output: str


@dataclass(frozen=True, slots=True)
class Progress:
    """The output of a background command since a cursor: whole lines, and the next cursor."""

    lines: Sequence[str]
    cursor: int
    running: bool
    exit_code: int | None = None


class WallsFell(NotFound):
    """The sandbox was ended by us: its firewall is down, and can't be put up again."""


class Sandboxes(Protocol):
    """Sandboxes on a Docker host through OpenSandbox. A lost sandbox raises NotFound in every call."""

    async def ping(self) -> None:
        """Return when the server answers. Raises: Unavailable."""
        ...

    async def create(self, spec: SandboxSpec) -> Sandbox:
        """Make it, check that it is exactly what was asked, admit its address, wait until it answers.

        Nothing is left when it raises. Raises: Unavailable, Forbidden (it was not what was asked).
        """
        ...

    async def find(self, run: RunId, execd_token: str) -> Sandbox | None:
        """The run's live sandbox, or None. Never one whose execd is dead."""
        ...

    async def kill(self, run: RunId) -> None:
        """Close its way out, end it, and remove what belonged to it. Idempotent."""
        ...

    async def freeze(self, run: RunId) -> bool:
        """Stop everything in the run's sandbox as it is, close its way out, and let it not expire.

        Its container, memory and disk stay, until `kill`. Idempotent. Says whether there is one.
        """
        ...

    async def renew(self, sandbox: Sandbox) -> None:
        """Heartbeat: without it the sandbox ends by itself soon. Raises: WallsFell."""
        ...

    async def execute(
        self,
        sandbox: Sandbox,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: str = "/workspace",
        timeout_s: float = 60,
    ) -> Completed:
        """Run a short command to its end; output is bounded."""
        ...

    async def start(
        self, sandbox: Sandbox, argv: Sequence[str], *, env: Mapping[str, str], cwd: str
    ) -> str:
        """Start a command in the background and return its id."""
        ...

    async def progress(self, sandbox: Sandbox, command: str, cursor: int) -> Progress:
        """What the command said after line `cursor` (-1: from the start), and whether it still runs."""
        ...

    async def interrupt(self, sandbox: Sandbox, command: str) -> None:
        """SIGINT to the command's group, then SIGTERM, then SIGKILL; all within seconds."""
        ...

    async def sweep(self, sandbox: Sandbox) -> None:
        """End every process that a run left behind."""
        ...

    async def write(self, sandbox: Sandbox, path: str, content: bytes) -> None:
        """Write a file as the sandbox's user."""
        ...

    async def evidence(self, run: RunId, task: TaskId) -> Evidence:
        """The host's counters for the run's sandbox; works on a dead one while its container is there."""
        ...

    async def orphans(self, live: Sequence[RunId]) -> Sequence[RunId]:
        """Runs that have a sandbox of this installation but are not among `live`."""
        ...


class FrozenStore(Protocol):
    """Remembers which sandboxes are frozen, beside everything that may be lost."""

    def load(self) -> Sequence[Frozen]:
        """All of them. Blocking. Raises: Malformed when one can't be read."""
        ...

    def save(self, frozen: Frozen) -> None:
        """Remember it, in place of what is known of the same run. Blocking. Raises: Unavailable."""
        ...

    def delete(self, run: RunId) -> None:
        """Forget it; no error when there is none. Blocking. Raises: Unavailable."""
        ...


class Alerts(Protocol):
    """Calls whoever looks after security."""

    async def frozen(self, frozen: Frozen) -> None:
        """Tell them. Raises: Unavailable, Malformed, Forbidden when they could not be told."""
        ...


@dataclass(frozen=True, slots=True)
class Start:
    """How a harness is started in a sandbox: files to write first, then a command."""

    argv: Sequence[str]
    env: Mapping[str, str]
    files: Mapping[str, bytes]
    cwd: str


@dataclass(frozen=True, slots=True)
class Assignment:
    """What a harness is started for."""

    model: str
    system: str
    prompt: str
    entrance: str
    """The door's base URL as seen from the sandbox."""
    run_token: str = field(repr=False)
    workdir: str = "/workspace"
    dialect: str = ""
    """What the model's provider speaks, where its name doesn't say it; empty: its name does."""
    resume: str = ""
    """The conversation of an earlier run to go on with, by the harness's own id; empty: a new one."""
    env: Mapping[str, str] = field(default_factory=dict)
    """More of the environment, the same for every harness: who commits, for one."""


class Harness(Protocol):
    """One kind of agent loop: how to start it, and how to read what it says."""

    @property
    def name(self) -> str:
        """As an agent's `harness` field names it."""
        ...

    @property
    def speaks(self) -> frozenset[str]:
        """Whose APIs it can talk to, as a provider's `dialect` names them."""
        ...

    def start(self, assignment: Assignment) -> Start:
        """The files, command and environment for this assignment."""
        ...

    def read(self, line: str) -> tuple[str, Mapping[str, Any]]:
        """One line of its output as (kind, data) of our events; anything unreadable is kind `raw`.

        `started` says what an earlier run's conversation can be gone on with (`conversation`) and why
        there are no tools (`unreachable`); `ended` says how it was over (`domain.run.Said`).
        """
        ...

    def kept_at(self, conversation: str, workdir: str) -> str:
        """Where in a sandbox this conversation is kept: a shell pattern without blanks."""
        ...


@dataclass(frozen=True, slots=True)
class NewAgent:
    """An agent to be made in the pool."""

    name: str
    title: str
    model: str
    harness: str
    instructions: str
    egress: str | None = None
    """Its egress policy in YAML; None leaves the one that it has."""

    @property
    def bot(self) -> str:
        """The id of its bot user."""
        return f"bot-{self.name}"


@dataclass(frozen=True, slots=True)
class NewTask:
    """A task to be created."""

    project: str
    title: str
    description: str
    repository: str
    base_branch: str
    assignee: str | None


class Hiring(Protocol):
    """Makes agents, hires them and gives them work, in Polarion."""

    async def create_agent(self, agent: NewAgent) -> str:
        """Make or update the bot user, its token and the agent of the pool; returns the agent's id.

        A retired agent is active again afterwards.
        """
        ...

    async def hire(
        self,
        bot: str,
        project: str,
        *,
        supervisor: str,
        budget_usd: Decimal,
        grants: Grants,
        egress: str | None = None,
    ) -> str:
        """Make or update the active engagement, and what it needs; returns its id.

        `egress` is its egress policy in YAML; None leaves the one that it has.

        The project and the supervisor's user are made when missing; roles are added to those that
        the two have. Raises: NotFound when the pool has no active agent with this bot user.
        """
        ...

    async def create_task(self, task: NewTask) -> TaskId:
        """Create a task, assigned or not; returns its id."""
        ...
