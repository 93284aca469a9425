"""Tokens that a client gets for a server: OAuth 2.1 client credentials.

A token is asked for when it is first needed, for this server and no other (RFC 8707), kept in memory
until shortly before it ends, and given up when the server doesn't take it. It goes to the hosts that
its secret is bound to; the client's own secret goes to its authorization server only.
"""

import asyncio
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import Any

import aiohttp

from entrance.decision import Deny
from entrance.errors import Forbidden, Malformed, NotFound
from entrance.ports import McpServer
from entrance.vault.credentials import Binding, Credential, SecretHeaders
from entrance.vault.discovery import (
    Challenge,
    IssuerMetadata,
    ResourceMetadata,
    issuer_in,
    issuer_places,
    resource_in,
    resource_places,
    scopes_in,
)
from entrance.vault.rest import Asked, Rejected, ask
from entrance.vault.vault import SecretInfo, Vault

LONGEST_S = 86400.0
UNSAID_S = 300.0
"""So long a token is used that doesn't say when it ends."""
SPARE_S = 30.0
_TOKEN = re.compile(r"[!-~]{8,8192}")


@dataclass(frozen=True, slots=True)
class _Key:
    secret: str
    version: int
    """Of the secret: one that is set anew opens what it opens at once."""
    server: str


@dataclass(frozen=True, slots=True)
class _Made:
    credential: Credential
    until: float
    scopes: tuple[str, ...]
    """Those that it was asked for with."""


@dataclass
class ClientTokens:
    """Asks for them, and keeps them. `clock` counts seconds."""

    vault: Vault
    http: aiohttp.ClientSession
    clock: Callable[[], float]
    _made: dict[_Key, _Made] = field(default_factory=dict, repr=False)
    _making: dict[_Key, asyncio.Lock] = field(default_factory=dict, repr=False)
    _told: dict[_Key, tuple[str, tuple[str, ...]]] = field(default_factory=dict, repr=False)
    """What a server said when it didn't take a token: where its metadata is, the scopes it wants."""

    async def headers_for(
        self, server: McpServer, info: SecretInfo, method: str, url: str
    ) -> SecretHeaders:
        """Headers for a request about the server, with a token for it.

        Raises: Forbidden when the secret is not for this host, or the authorization server refuses;
        NotFound; Malformed; Unavailable.
        """
        binding = tokens_of(info.binding)
        allowed = binding.allows(method, url)
        if isinstance(allowed, Deny):
            raise Forbidden(f"secret {info.name!r}: {allowed.reason}")
        key = _key(server, info)
        async with self._making.setdefault(key, asyncio.Lock()):
            made = self._made.get(key)
            if made is None or self.clock() >= made.until:
                made = self._made[key] = await self._make(key, info.binding)
        return made.credential.headers(url)

    def refused(
        self, server: McpServer, info: SecretInfo, shown: SecretHeaders, why: Challenge
    ) -> bool:
        """The server didn't take a token: whether another can be shown."""
        key = _key(server, info)
        made = self._made.get(key)
        newer = made is not None and shown != made.credential.headers(server.url)
        scopes = why.next_scopes(made.scopes if made and not newer else ())
        if scopes is None or (info.binding.scopes and why.status == HTTPStatus.FORBIDDEN):
            return False  # whoever sealed the secret said how far its tokens go
        if not newer:  # else another request has come to know it first
            self._made.pop(key, None)
            self._told[key] = why.metadata, scopes
        return True

    async def _make(self, key: _Key, binding: Binding) -> _Made:
        where, wanted = self._told.get(key, ("", ()))
        resource = await self._resource(key, where, binding.issuer)
        issuer = await self._issuer(binding.issuer)
        offered = scopes_in(resource.scopes_supported) if resource else ()
        scopes = binding.scopes or wanted or offered
        proof = await self.vault.as_client(key.secret, issuer)
        form = {
            "grant_type": "client_credentials",
            "resource": resource.resource if resource else key.server,
            **({"scope": " ".join(scopes)} if scopes else {}),
            **proof.form,
        }
        asked_at = self.clock()
        asked = Asked("POST", issuer.token_endpoint, f"a token for {key.server}", form=form)
        try:
            answer = await ask(self.http, asked, proof.headers)
        except Rejected as error:
            raise Forbidden(str(error)) from error
        token, lasts_s = _token_in(answer.json, key.server)
        credential = Credential(f"{key.secret} at {key.server}", tokens_of(binding), token)
        spare_s = min(SPARE_S, lasts_s / 2)
        return _Made(credential, asked_at + lasts_s - spare_s, scopes)

    async def _resource(self, key: _Key, where: str, issuer: str) -> ResourceMetadata | None:
        """A server that is older than its metadata has none."""
        told = await self._first(resource_places(key.server, where), "the server's metadata")
        return None if told is None else resource_in(told, key.server, issuer)

    async def _issuer(self, issuer: str) -> IssuerMetadata:
        told = await self._first(issuer_places(issuer), f"the metadata of {issuer}")
        if told is None:
            raise NotFound(f"{issuer} has no metadata (RFC 8414): is that the issuer's URL?")
        return issuer_in(told, issuer)

    async def _first(self, places: list[str], what: str) -> Mapping[str, Any] | None:
        """The first that is there. Raises: Malformed, Unavailable."""
        for place in places:
            try:
                answer = await ask(self.http, Asked("GET", place, what), SecretHeaders({}))
            except (NotFound, Forbidden, Rejected):  # servers refuse what they don't know as well
                continue
            if isinstance(answer.json, dict):
                return answer.json
        return None


def tokens_of(client: Binding) -> Binding:
    """Where a client's tokens may go: the hosts, methods and paths that its secret names."""
    return replace(client, scheme="bearer", argument="", issuer="", scopes=())


def _key(server: McpServer, info: SecretInfo) -> _Key:
    return _Key(info.name, info.version, server.url)


def _token_in(told: Any, server: str) -> tuple[str, float]:
    """A token, and how many seconds it lasts. Raises: Malformed."""
    said = told if isinstance(told, dict) else {}
    token, kind = said.get("access_token"), said.get("token_type")
    if not isinstance(token, str) or not _TOKEN.fullmatch(token):
        raise Malformed(f"a token for {server}: the answer holds none")
    if not isinstance(kind, str) or kind.lower() != "bearer":
        raise Malformed(f"a token for {server}: it is none for a bearer")
    lasts = said.get("expires_in")
    if isinstance(lasts, bool) or not isinstance(lasts, int | float) or not lasts > 0:
        return token, UNSAID_S
    return token, min(float(lasts), LONGEST_S)
