"""What git hosts do beside git: pull requests, and credentials that are made for one run."""

from dataclasses import dataclass
from typing import Protocol

from entrance.session import RepoGrant, RunId


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a pull request is to be: `branch` into `base`, both without `refs/heads/`."""

    branch: str
    base: str
    title: str
    body: str


@dataclass(frozen=True, slots=True)
class Proposed:
    """A pull request that is open: its number (GitLab: its iid), and where people see it."""

    number: int
    url: str


class GitHosts(Protocol):
    """The hosts of granted repositories, each as its grant says."""

    async def why_not(self, grant: RepoGrant) -> str:
        """Why no pull request can be opened there, as a sentence; empty when one can.

        Raises: Unavailable.
        """
        ...

    async def propose(self, grant: RepoGrant, proposal: Proposal) -> Proposed:
        """Open a pull request; if one of these branches is open, give it this body instead.

        Done twice there is still one. Its title stays as people may have changed it.
        Raises: Unavailable, Forbidden, NotFound, Conflict, Malformed.
        """
        ...

    async def forget(self, run: RunId) -> None:
        """Revoke the credentials that were made for a run; those that can't be end by themselves."""
        ...


class NoGitHosts:
    """There are none: nothing is proposed anywhere."""

    async def why_not(self, grant: RepoGrant) -> str:
        return f"no pull requests are opened in {grant.name} here"

    async def propose(self, grant: RepoGrant, proposal: Proposal) -> Proposed:
        raise NotImplementedError(f"{grant.name}: {proposal.branch}")

    async def forget(self, run: RunId) -> None:
        del run
