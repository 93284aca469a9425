"""A stand-in of each host, with one repository, and what opens it."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import aiohttp
import pytest

from entrance.session import RepoGrant, RunId
from entrance.vault.installation import InstallationTokens
from entrance.vault.repositories import VaultRepositories
from entrance.vault.seal import Keyring
from entrance.vault.vault import Vault
from tests.fakes.secrets import FakeSecretStore
from tests.servers.githosts.github import APP, GitHub, app_key, github
from tests.servers.githosts.serving import Repo

FULL_NAME = "team/thing"
BRANCH = "agent/DEMO-7/fix"


@dataclass
class Seconds:
    """A clock of seconds that stands still until it is moved."""

    at: float = 1000.0

    def __call__(self) -> float:
        return self.at


@dataclass
class Opened:
    """GitHub with an App that is installed in one repository, and the vault that has its key."""

    host: GitHub
    grant: RepoGrant
    vault: Vault
    tokens: InstallationTokens
    repositories: VaultRepositories
    http: aiohttp.ClientSession
    seconds: Seconds = field(default_factory=Seconds)

    @property
    def repo(self) -> Repo:
        return self.host.repos[FULL_NAME]


@pytest.fixture
async def http() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(trust_env=False) as session:
        yield session


@pytest.fixture
def vault() -> Vault:
    host = GitHub()
    return Vault(FakeSecretStore(), Keyring("k", {"k": b"k" * 32}), lambda: host.now)


@pytest.fixture
async def opened(http: aiohttp.ClientSession) -> AsyncIterator[Opened]:
    host = GitHub(
        repos={FULL_NAME: Repo({"main", BRANCH}), "team/other": Repo()},
        installations={FULL_NAME: 77, "team/other": 77},
    )
    vault = Vault(FakeSecretStore(), Keyring("k", {"k": b"k" * 32}), lambda: host.now)
    seconds = Seconds()
    async with github(host) as base:
        await vault.put("app", app_key()[0], [base, "github.com"], f"github-app:{APP}")
        grant = RepoGrant(
            name="github.com/team/thing.git",
            url="https://github.com/team/thing.git",
            push=True,
            credential="app",
            host="github",
            api=base,
            full_name=FULL_NAME,
            run=RunId("run-1"),
        )
        tokens = InstallationTokens(vault, http, seconds)
        yield Opened(host, grant, vault, tokens, VaultRepositories(vault, tokens), http, seconds)
