"""What the hosts have in common for whoever proposes something."""

from dataclasses import dataclass
from typing import Protocol

from orchestrator.ports.githosts import Proposal, Proposed


@dataclass(frozen=True, slots=True)
class Found:
    """An open pull request, and what it says."""

    proposed: Proposed
    body: str


class PullRequests(Protocol):
    """The pull requests of one repository. Everything may raise what `api.Api` raises."""

    async def find(self, branch: str, base: str) -> Found | None:
        """The open one of a branch into a base."""
        ...

    async def create(self, wanted: Proposal) -> Proposed:
        """Open one. Raises: Conflict when there is one already."""
        ...

    async def change(self, number: int, body: str) -> None:
        """Give it another body."""
        ...
