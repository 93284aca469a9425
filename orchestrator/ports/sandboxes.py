"""Where sandboxes come from, and what can be done in one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from entrance.errors import NotFound
from entrance.session import RunId, TaskId
from orchestrator.domain.verdict import Evidence
from orchestrator.ports.disks import Mounts, Volumes

STDIO = "stdio"
"""In a harness's place: the sandbox of an MCP server that is run over stdio."""


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


@dataclass(frozen=True, slots=True)
class WayIn:
    """How a server on a sandbox's own loopback is reached: a base URL, and headers that open the way."""

    url: str
    headers: Mapping[str, str] = field(repr=False)


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

    def way_in(self, sandbox: Sandbox, port: int) -> WayIn:
        """The way to whoever listens on a port of the sandbox's loopback; nobody else has it."""
        ...

    async def evidence(self, run: RunId, task: TaskId) -> Evidence:
        """The host's counters for the run's sandbox; works on a dead one while its container is there."""
        ...

    async def orphans(self, live: Sequence[RunId]) -> Sequence[RunId]:
        """Runs that have a sandbox of this installation but are not among `live`."""
        ...
