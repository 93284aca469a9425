"""What the egress policy needs: what the installation says, and the proxy's files."""

from typing import Protocol

from orchestrator.domain.egress import Ground, Unreadable
from orchestrator.domain.egress_compile import Known
from proxy.policy_file import PolicyFile


class Sources(Protocol):
    """What the installation says, read afresh. What can't be read is said."""

    def ground(self) -> Ground | Unreadable:
        """Its rules and its ceiling."""
        ...

    def known(self) -> Known:
        """The presets, and the registries that this machine uses."""
        ...

    def refused(self) -> tuple[str, ...]:
        """Networks and addresses of this machine, which nothing is ever sent to. Raises: Unavailable."""
        ...

    def mark(self) -> object:
        """Equal to an earlier one as long as nothing of it was written anew."""
        ...


class ProxyFiles(Protocol):
    """The proxy's files. Everything may raise Unavailable."""

    def written(self) -> PolicyFile | None:
        """The policy that is in the file; None when there is none, or it can't be read."""
        ...

    def write(self, policy: PolicyFile) -> None:
        """Put a policy in the place of the one that is there: whole, or not at all."""
        ...

    def applied(self) -> int:
        """The generation that the proxy has in force; 0 when it has none."""
        ...
