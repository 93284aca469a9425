"""What the battery works with: the very things that runs are prepared with."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import docker

from entrance.session import RunId, Session, TaskId
from orchestrator.adapters.firewall.table import Bridge
from orchestrator.adapters.posture.host import Made
from orchestrator.ports import Mounts, Sandbox, Sandboxes, Volumes
from orchestrator.posture.probe import Caps
from proxy.rules import SandboxPolicy


class Door(Protocol):
    """The door's register of sessions."""

    def open(self, session: Session) -> None:
        """From now on the session's token opens the door from its address."""
        ...

    def close(self, run: RunId) -> None:
        """The run's token opens nothing any more. Idempotent."""
        ...


class Egress(Protocol):
    """The egress proxy's policy, as far as the battery's sandboxes are in it."""

    @property
    def generation(self) -> int:
        """The generation that is in force."""
        ...

    def environment(self, token: str) -> Mapping[str, str]:
        """The variables that lead a sandbox's programs to the proxy."""
        ...

    async def admit(self, policies: Sequence[SandboxPolicy]) -> None:
        """Have exactly these in force. Raises: Unavailable when they aren't in time."""
        ...


class ProbeDisks(Protocol):
    """Disks as tasks have them."""

    async def ensure(self, task: TaskId) -> Mounts | Volumes:
        """Make and mount one. Raises: Unavailable."""
        ...

    async def release(self, task: TaskId) -> None:
        """Unmount it. Idempotent."""
        ...

    async def purge(self, task: TaskId) -> None:
        """Remove it. Idempotent."""
        ...


@dataclass(frozen=True, slots=True)
class Hands:
    """All of them."""

    sandboxes: Sandboxes
    disks: ProbeDisks
    door: Door
    engine: Callable[[], docker.DockerClient]
    firewall: Callable[[], Awaitable[Sequence[str]]]
    """What is wrong with the firewall's table."""
    execd_token: Callable[[RunId], str]
    bridge: Bridge
    caps: Caps
    made: Made
    own_ports: tuple[int, ...] = ()
    egress: Egress | None = None
    """The egress proxy's policy; None where there is no proxy."""
    watched_disks: bool = False
    """Whether tasks' disks are measured, and not capped."""
    trusted: tuple[str, ...] = ()
    """Where the files with the authorities that a sandbox trusts are mounted."""


@dataclass(frozen=True, slots=True)
class Player:
    """One sandbox of the battery."""

    who: str
    harness: str
    sandbox: Sandbox
    token: str = field(repr=False)

    @property
    def container(self) -> str:
        """The name of its container."""
        return f"sandbox-{self.sandbox.id}"
