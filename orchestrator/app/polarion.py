"""Polarion, as the runner's service user and as the agents' bot users."""

from collections.abc import Mapping
from dataclasses import dataclass

import aiohttp
from yarl import URL

from entrance.vault.vault import Vault
from orchestrator.adapters.polarion import Authorize, KeyedLocks, PolarionClient
from orchestrator.settings import Polarion as Settings


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

    def as_bot(self, bot: str) -> PolarionClient:
        """Acts as a bot user: its token is unsealed for each single request, in the vault."""

        async def authorize(method: str, url: URL) -> Mapping[str, str]:
            return await self.vault.headers_for(secret_of(bot), method, str(url))

        return self._client(authorize)

    def _client(self, authorize: Authorize) -> PolarionClient:
        return PolarionClient(self.http, self.settings.url, authorize, locks=self.locks)


@dataclass(frozen=True, slots=True)
class BotTokens:
    """Bot users' tokens in the vault, bound to Polarion's host."""

    vault: Vault
    host: str

    async def has(self, bot: str) -> bool:
        return secret_of(bot) in await self.vault.names()

    async def keep(self, bot: str, token: str) -> None:
        await self.vault.put(secret_of(bot), token, [self.host], "polarion")


def secret_of(bot: str) -> str:
    """The name of the vault's secret that holds a bot user's token."""
    return f"polarion.{bot}"


def host_of(base_url: str) -> str:
    """The host that bot tokens are bound to; plain http only when Polarion itself is."""
    url = URL(base_url)
    place = f"{url.host}:{url.port}"
    return f"http://{place}" if url.scheme == "http" else place
