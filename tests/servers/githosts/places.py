"""Stand-ins of the git hosts as the port reaches them, each with one repository."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

import aiohttp

from entrance.session import HostKind, RepoGrant, RunId
from entrance.vault.installation import InstallationTokens
from entrance.vault.repositories import VaultRepositories
from entrance.vault.seal import Keyring
from entrance.vault.vault import Vault
from orchestrator.adapters.githosts.hosts import RestGitHosts
from orchestrator.ports import Proposal
from tests.fakes.secrets import FakeSecretStore
from tests.servers.githosts.gitea import READ, Gitea, gitea
from tests.servers.githosts.github import APP, GitHub, Token, app_key, github
from tests.servers.githosts.gitlab import REPORTER, GitLab, gitlab
from tests.servers.githosts.serving import Host, Repo

FULL_NAME = "team/thing"
BRANCH = "agent/DEMO-7/fix"
TOKEN = "pat_of-the-tests-0123456789"
POOR = "pat_that-may-only-read-0123"
WANTED = Proposal(BRANCH, "main", "Fix it (DEMO-7)", "What was asked: *this*.\n\nAnd more.\n")


@dataclass
class Place:
    """One host that runs, and the port that reaches it."""

    host: Host
    grant: RepoGrant
    hosts: RestGitHosts
    vault: Vault

    @property
    def repo(self) -> Repo:
        return self.host.repos[FULL_NAME]


PLACES: dict[str, HostKind] = {
    "github-app": "github",
    "github": "github",
    "gitlab": "gitlab",
    "gitea": "gitea",
}
"""Hosts, by what opens them."""


@asynccontextmanager
async def a_place(name: str) -> AsyncIterator[Place]:
    """One of `PLACES`, running."""
    kind = PLACES[name]
    async with AsyncExitStack() as stack:
        http = await stack.enter_async_context(aiohttp.ClientSession(trust_env=False))
        host, base = await _served(stack, kind)
        vault = Vault(FakeSecretStore(), Keyring("k", {"k": b"k" * 32}), lambda: GitHub().now)
        app = name == "github-app"
        secret = app_key()[0] if app else TOKEN
        await vault.put("host", secret, [host.base], f"github-app:{APP}" if app else kind)
        await vault.put("poor", POOR, [host.base], kind)
        await vault.put("git-only", TOKEN, [host.base], "git")
        repositories = VaultRepositories(vault, InstallationTokens(vault, http))
        grant = RepoGrant(
            name="h/team/thing.git",
            url=f"{host.base}/team/thing.git",
            push=True,
            credential="host",
            host=kind,
            api=base,
            full_name=FULL_NAME,
            pull_requests=True,
            run=RunId("run-1"),
        )
        yield Place(host, grant, RestGitHosts(http, repositories), vault)


async def _served(stack: AsyncExitStack, kind: HostKind) -> tuple[Host, str]:
    repos = {FULL_NAME: Repo({"main", "next", BRANCH, *(f"b{n}" for n in range(120))})}
    if kind == "github":
        hub = GitHub(repos=repos, installations={FULL_NAME: 77})
        hub.pat(TOKEN, FULL_NAME)
        hub.tokens[POOR] = Token({"pull_requests": "read"}, frozenset({FULL_NAME}))
        return hub, await stack.enter_async_context(github(hub))
    if kind == "gitlab":
        lab = GitLab(repos=repos)
        lab.member(TOKEN, FULL_NAME)
        lab.member(POOR, FULL_NAME, role=REPORTER)
        return lab, await stack.enter_async_context(gitlab(lab))
    tea = Gitea(repos=repos)
    tea.user(TOKEN, FULL_NAME)
    tea.user(POOR, FULL_NAME, scope=READ)
    return tea, await stack.enter_async_context(gitea(tea))
