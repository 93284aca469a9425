"""`ports.GitHosts`: which host a grant means; one pull request however often it is asked for."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import aiohttp

from entrance.decision import Deny
from entrance.errors import Conflict, SandgateError, Unavailable
from entrance.session import HostKind, RepoGrant, RunId
from entrance.vault.repositories import VaultRepositories
from orchestrator.adapters.githosts import gitea, github, gitlab
from orchestrator.adapters.githosts.api import Api
from orchestrator.adapters.githosts.found import Found, PullRequests
from orchestrator.ports.githosts import Proposal, Proposed


@dataclass(frozen=True, slots=True)
class _Kind:
    make: Callable[[Api], PullRequests]
    headers: Mapping[str, str]


KINDS: Mapping[HostKind, _Kind] = {
    "github": _Kind(github.GitHub, github.HEADERS),
    "gitlab": _Kind(gitlab.GitLab, gitlab.HEADERS),
    "gitea": _Kind(gitea.Gitea, gitea.HEADERS),
}
_PROBE: Mapping[HostKind, str] = {
    "github": "repos/owner/name/pulls",
    "gitlab": "projects/1/merge_requests",
    "gitea": "repos/owner/name/pulls",
}


@dataclass(frozen=True, slots=True)
class RestGitHosts:
    """Over HTTP, with the credentials that the grants name."""

    http: aiohttp.ClientSession
    credentials: VaultRepositories

    async def why_not(self, grant: RepoGrant) -> str:
        if not grant.pull_requests:
            return f"the engagement wants no pull requests in {grant.name}"
        if grant.host not in KINDS or not grant.api:
            return f"{grant.name} is on a plain git host, which has no pull requests to open"
        if grant.credential is None:
            return f"{grant.name} has no credential, and its host's API needs one"
        try:
            may = await self.credentials.may_propose(grant, f"{grant.api}/{_PROBE[grant.host]}")
        except Unavailable:
            raise
        except SandgateError as error:
            return str(error)
        return f"the secret {grant.credential!r}: {may.reason}" if isinstance(may, Deny) else ""

    async def propose(self, grant: RepoGrant, proposal: Proposal) -> Proposed:
        kind = KINDS[grant.host]
        there = kind.make(Api(self.http, self.credentials, grant, kind.headers))
        found = await there.find(proposal.branch, proposal.base)
        if found is None:
            try:
                return await there.create(proposal)
            except Conflict:  # an earlier try came through, though its answer was lost
                found = await there.find(proposal.branch, proposal.base)
                if found is None:
                    raise
        return await _brought_up(there, found, proposal)

    async def forget(self, run: RunId) -> None:
        await self.credentials.forget(run)


async def _brought_up(there: PullRequests, found: Found, proposal: Proposal) -> Proposed:
    if found.body.split() != proposal.body.split():  # hosts lay white space out anew
        await there.change(found.proposed.number, proposal.body)
    return found.proposed
