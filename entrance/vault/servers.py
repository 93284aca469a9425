"""The credentials of MCP servers, out of the vault: a secret itself, or a token that it gets."""

from entrance.ports import McpServer
from entrance.vault.client_tokens import ClientTokens
from entrance.vault.credentials import SecretHeaders
from entrance.vault.discovery import Challenge
from entrance.vault.vault import Vault


class VaultServers:
    """Implements the MCP gateway's `Secrets`: the secret that the connection names."""

    def __init__(self, vault: Vault, tokens: ClientTokens) -> None:
        self._vault = vault
        self._tokens = tokens

    async def headers_for(self, server: McpServer, method: str, url: str) -> SecretHeaders:
        """Headers for a request to the server at `url`; none when its connection names no secret.

        Raises: NotFound, Forbidden, Malformed, Unavailable.
        """
        if not server.secret:
            return SecretHeaders({})
        info = await self._vault.info(server.secret)
        if info.binding.scheme != "oauth-client":
            return await self._vault.headers_for(server.secret, method, url)
        return await self._tokens.headers_for(server, info, method, url)

    async def refused(self, server: McpServer, shown: SecretHeaders, why: Challenge) -> bool:
        """The server didn't take what it was shown: whether there is something else to show.

        Raises: NotFound, Malformed, Unavailable.
        """
        if not server.secret:
            return False
        info = await self._vault.info(server.secret)
        return info.binding.scheme == "oauth-client" and self._tokens.refused(
            server, info, shown, why
        )
