"""OAuth that takes a person's browser, by the SDK: our client shows the tokens that the SDK's provider gets.

The door itself does client credentials only.
"""

from collections.abc import Mapping
from urllib.parse import parse_qsl, urlsplit

import httpx2
from mcp.client.auth import OAuthClientProvider, OAuthFlowError
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthToken,
)
from pydantic import AnyUrl

from entrance.errors import Forbidden
from entrance.ports import McpServer
from entrance.vault.credentials import SecretHeaders
from entrance.vault.discovery import Challenge

REDIRECT = AnyUrl("http://localhost:3000/callback")
METADATA_URL = "https://conformance-test.local/client-metadata.json"
"""What a client is known by that need not be registered; the suite expects this one."""


class Remembered:
    """Implements the SDK's `TokenStorage`."""

    def __init__(self, client: OAuthClientInformationFull | None) -> None:
        self._client = client
        self._tokens: OAuthToken | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self._tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self._tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self._client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self._client = client_info


class Browser:
    """A person who agrees to everything at once."""

    def __init__(self, http: httpx2.AsyncClient) -> None:
        self._http = http
        self._came = AuthorizationCodeResult(code="", state=None)

    async def visit(self, url: str) -> None:
        """Go there, and remember what it leads back with."""
        answer = await self._http.get(url)
        told = dict(parse_qsl(urlsplit(answer.headers["location"]).query))
        self._came = AuthorizationCodeResult(**told)

    async def came_back(self) -> AuthorizationCodeResult:
        return self._came


class SdkOAuth:
    """Implements the upstream's `Secrets`, for the server at `url`. `known`: a client that is registered."""

    def __init__(self, http: httpx2.AsyncClient, url: str, known: Mapping[str, str]) -> None:
        browser = Browser(http)
        metadata = OAuthClientMetadata(
            client_name="sandgate",
            redirect_uris=[REDIRECT],
            grant_types=["authorization_code", "refresh_token"],
            response_types=["code"],
        )
        self._http = http
        self._shown = SecretHeaders({})
        self._provider = OAuthClientProvider(
            url,
            metadata,
            Remembered(_client_in(known)),
            browser.visit,
            browser.came_back,
            client_metadata_url=METADATA_URL,
        )

    async def headers_for(self, server: McpServer, method: str, url: str) -> SecretHeaders:
        return self._shown

    async def refused(self, server: McpServer, shown: SecretHeaders, why: Challenge) -> bool:
        """Go from the refusal to what the SDK would show next. Raises: Forbidden."""
        try:
            token = await self._next_token(server.url, why)
        except OAuthFlowError as error:
            raise Forbidden(str(error)) from error
        self._shown = SecretHeaders({"authorization": f"Bearer {token}"}, token)
        return True

    async def _next_token(self, url: str, why: Challenge) -> str:
        asked = httpx2.Request("POST", url)
        flow = self._provider.async_auth_flow(asked)
        await anext(flow)
        refusal = httpx2.Response(why.status, headers={"www-authenticate": why.told}, request=asked)
        sent = await flow.asend(refusal)
        while sent is not asked:
            sent = await flow.asend(await self._http.send(sent))
        await flow.aclose()
        return str(asked.headers["authorization"]).removeprefix("Bearer ")


def _client_in(known: Mapping[str, str]) -> OAuthClientInformationFull | None:
    if "client_id" not in known:
        return None
    return OAuthClientInformationFull(
        client_id=known["client_id"],
        client_secret=known.get("client_secret"),
        redirect_uris=[REDIRECT],
        token_endpoint_auth_method="client_secret_basic",
    )
