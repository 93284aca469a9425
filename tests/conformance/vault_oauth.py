"""OAuth that the door does itself: client credentials, by the vault."""

from collections.abc import Mapping
from time import monotonic
from urllib.parse import urljoin, urlsplit

import aiohttp
import httpx2

from entrance.vault.client_tokens import ClientTokens
from entrance.vault.seal import Keyring
from entrance.vault.servers import VaultServers
from entrance.vault.vault import Vault
from orchestrator.clock import WallClock
from tests.fakes.secrets import FakeSecretStore


async def vault_oauth(
    http: aiohttp.ClientSession, browser: httpx2.AsyncClient, url: str, known: Mapping[str, str]
) -> VaultServers:
    """A vault with the secret `suite` for the server at `url`, as a person would seal it who looks there."""
    place = urljoin(url, "/.well-known/oauth-protected-resource/mcp")
    [issuer] = (await browser.get(place)).json()["authorization_servers"]
    vault = Vault(FakeSecretStore(), Keyring("k1", {"k1": b"k" * 32}), WallClock().now)
    value = known.get("private_key_pem") or known["client_secret"]
    kind = f"mcp-oauth:{known['client_id']}"
    await vault.put("suite", value, [f"http://{urlsplit(url).netloc}"], kind, issuer=issuer)
    return VaultServers(vault, ClientTokens(vault, http, monotonic))
