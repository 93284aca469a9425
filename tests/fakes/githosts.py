"""A git host with pull requests, in memory; it may be away, refuse, or be one that has none."""

from dataclasses import dataclass, field, replace

from entrance.errors import SandgateError
from entrance.session import RepoGrant, RunId
from orchestrator.ports import Proposal, Proposed


@dataclass
class FakeGitHosts:
    """`orchestrator.ports.GitHosts` for tests."""

    none: str = ""
    """Why nothing can be proposed; empty when it can."""
    troubles: list[SandgateError] = field(default_factory=list)
    """Raised one after the other, before anything is done."""
    open: dict[tuple[str, str], Proposal] = field(default_factory=dict)
    """By repository and branch."""
    asked: int = 0
    forgotten: list[RunId] = field(default_factory=list)

    async def why_not(self, grant: RepoGrant) -> str:
        return self.none

    async def propose(self, grant: RepoGrant, proposal: Proposal) -> Proposed:
        self.asked += 1
        if self.troubles:
            raise self.troubles.pop(0)
        key = (grant.name, proposal.branch)
        before = self.open.get(key)
        self.open[key] = replace(proposal, title=before.title) if before else proposal
        number = 1 + list(self.open).index(key)
        return Proposed(number, f"https://{grant.name}/pull/{number}")

    async def forget(self, run: RunId) -> None:
        self.forgotten.append(run)
