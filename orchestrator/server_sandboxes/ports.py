"""What the sandboxes of MCP servers need."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from entrance.session import RunId, Session, TaskId
from orchestrator.disks import KeptDisk
from orchestrator.domain.egress import Policy
from orchestrator.ports import Mounts, Volumes


class ServerEgress(Protocol):
    """The egress proxy, as far as it is about the sandboxes of servers."""

    def environment(self, wanted: Policy) -> Mapping[str, str]:
        """Variables that lead to the authorities that are trusted, and to package registries."""
        ...

    def way_out(self, token: str) -> Mapping[str, str]:
        """Variables that lead programs with this token to the proxy."""
        ...

    async def admit(self, account: RunId, session: Session, wanted: Policy) -> Sequence[str]:
        """Have the policy of a sandbox in force; says what of the wishes isn't in it.

        Raises: Unavailable when it isn't in force in time.
        """
        ...

    def forget(self, address: str) -> None:
        """The sandbox at the address has ended."""
        ...


class ServerDisks(Protocol):
    """Disks of sandboxes, as `ports.Disks` has them, and those that are there."""

    async def ensure(self, task: TaskId) -> Mounts | Volumes:
        """Make it and mount it. Raises: Unavailable."""
        ...

    async def release(self, task: TaskId) -> None:
        """Unmount it. Raises: Unavailable."""
        ...

    async def purge(self, task: TaskId) -> None:
        """Remove it. Idempotent. Raises: Conflict when somebody uses it."""
        ...

    async def kept(self) -> Sequence[KeptDisk]:
        """Every disk."""
        ...
