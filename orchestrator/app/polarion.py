"""Polarion, as the runner's service user, as the agents' bot users, and as people."""

from collections.abc import Mapping
from dataclasses import dataclass

import aiohttp
from yarl import URL

from entrance.errors import NotFound
from entrance.vault.credentials import NAME
from entrance.vault.vault import Vault
from orchestrator.adapters.polarion import Authorize, KeyedLocks, PolarionClient
from orchestrator.adapters.polarion.supervising import PolarionPerson
from orchestrator.settings import Polarion as Settings

DECIDE = ("project_assignable", "project_admin")
"""The roles of a project whose users may decide about its tasks."""


@dataclass(frozen=True, slots=True)
class Polarion:
    """Makes clients; they share one lock an item, since Polarion has no versions."""

    http: aiohttp.ClientSession
    settings: Settings
    vault: Vault
    locks: KeyedLocks

    def as_service(self) -> PolarionClient:
        """Acts as the runner's service user."""
        token = self.settings.token_file.read_text().strip()
        return self._client(lambda _method, _url: {"Authorization": f"Bearer {token}"})

    def as_user(self, user: str) -> PolarionClient:
        """Acts as an agent's user, or a person: their token is unsealed for each request, in the vault."""

        async def authorize(method: str, url: URL) -> Mapping[str, str]:
            return await self.vault.headers_for(secret_of(user), method, str(url))

        return self._client(authorize)

    def _client(self, authorize: Authorize) -> PolarionClient:
        return PolarionClient(self.http, self.settings.url, authorize, locks=self.locks)


@dataclass(frozen=True, slots=True)
class BotTokens:
    """Users' tokens in the vault, bound to Polarion's host."""

    vault: Vault
    host: str

    async def has(self, bot: str) -> bool:
        return secret_of(bot) in await self.vault.names()

    async def keep(self, bot: str, token: str) -> None:
        await self.vault.put(secret_of(bot), token, [self.host], "polarion")


@dataclass(frozen=True, slots=True)
class PolarionPeople:
    """`board.People`: each acts by a token of their own, which the vault keeps as it does an agent's.

    Where Polarion makes no tokens for us and none was sealed, the service user acts for them.
    """

    polarion: Polarion
    vault: Vault
    tokens: BotTokens | None

    async def person(self, user: str) -> PolarionPerson:
        service = self.polarion.as_service()
        await service.users.get(user)
        if secret_of(user) not in await self.vault.names():
            if self.tokens is None or not NAME.fullmatch(secret_of(user)):
                return PolarionPerson(service, in_person=False)
            await self.tokens.keep(user, await service.users.make_token(user, "sandgate"))
        return PolarionPerson(self.polarion.as_user(user), in_person=True)


@dataclass(frozen=True, slots=True)
class PolarionRights:
    """`orchestrator.approvals.ports.Rights`: those decide who could do so about the project's tasks."""

    polarion: Polarion

    async def may_decide(self, user: str, project: str) -> bool:
        try:
            found = await self.polarion.as_service().users.get(user)
        except NotFound:
            return False
        return not found.disabled and any((project, role) in found.project_roles for role in DECIDE)


def secret_of(user: str) -> str:
    """The name of the vault's secret that holds a user's token: an agent's, or a person's."""
    return f"polarion.{user}"


def host_of(base_url: str) -> str:
    """The host that bot tokens are bound to; plain http only when Polarion itself is."""
    url = URL(base_url)
    place = f"{url.host}:{url.port}"
    return f"http://{place}" if url.scheme == "http" else place
