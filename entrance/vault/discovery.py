"""Who gives tokens for a server, as the server and its authorization server say it [pure].

RFC 9728 (of a resource), RFC 8414 (of an authorization server), RFC 6750 (why a token wasn't taken).
What they say is held against what the vault was told: a server never chooses where a secret goes.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import SplitResult, urlsplit

from pydantic import BaseModel, Field, ValidationError

from entrance.errors import Forbidden, Malformed

_RESOURCE = "/.well-known/oauth-protected-resource"
_ISSUER = "/.well-known/oauth-authorization-server"
_OPENID = "/.well-known/openid-configuration"
_BEARER = re.compile(r"(?:^|,)\s*bearer\s+(.*)", re.IGNORECASE | re.DOTALL)
_PARAMETER = re.compile(r'([a-z_]{1,40})\s*=\s*(?:"((?:[^"\\]|\\.){0,2000})"|([^\s",]{1,2000}))')
_SCOPE = re.compile(r"[!#-\[\]-~]{1,200}")
_MOST_SCOPES = 50


class ResourceMetadata(BaseModel):
    """What a server says of itself, as far as it is used."""

    resource: str = Field(max_length=2000)
    authorization_servers: list[str] = Field(max_length=100)
    scopes_supported: list[str] = Field(default=[], max_length=1000)


class IssuerMetadata(BaseModel):
    """What an authorization server says of itself, as far as it is used."""

    issuer: str
    token_endpoint: str
    token_endpoint_auth_methods_supported: list[str] = ["client_secret_basic"]
    grant_types_supported: list[str] | None = None


@dataclass(frozen=True, slots=True)
class Challenge:
    """Why a server didn't take what it was shown. `told`: its WWW-Authenticate."""

    status: int
    told: str

    @property
    def scopes(self) -> tuple[str, ...]:
        """The scopes that it wants."""
        return scopes_in(self._said("scope").split(" "))

    @property
    def metadata(self) -> str:
        """Where it says that its metadata is; empty when it doesn't."""
        return self._said("resource_metadata")

    def next_scopes(self, had: tuple[str, ...]) -> tuple[str, ...] | None:
        """The scopes to ask for another token with; None where another is of no use.

        `had`: those of the token that was shown. They are kept where more are wanted.
        """
        if self.status == HTTPStatus.UNAUTHORIZED:
            return self.scopes
        if self.status != HTTPStatus.FORBIDDEN or self._said("error") != "insufficient_scope":
            return None
        more = scopes_in([*had, *self.scopes])
        return more if more != had else None

    def _said(self, name: str) -> str:
        found = _BEARER.search(self.told[:8000])
        for known, quoted, plain in _PARAMETER.findall(found[1] if found else ""):
            if known == name:
                return str(quoted or plain)
        return ""


def scopes_in(told: list[str]) -> tuple[str, ...]:
    """Those that are scopes, each once."""
    return tuple(dict.fromkeys(one for one in told if _SCOPE.fullmatch(one)))[:_MOST_SCOPES]


def resource_places(server: str, told: str) -> list[str]:
    """Where the metadata of a server may be, the likeliest first. `told`: where it said so itself.

    Raises: Forbidden when that is at another host.
    """
    parts = urlsplit(server)
    origin, path = _origin(parts), parts.path.rstrip("/")
    if told and _origin_of(told) != origin:
        raise Forbidden("the server's metadata is at another host than the server; it isn't asked")
    own = [told] if told else []
    return list(dict.fromkeys([*own, f"{origin}{_RESOURCE}{path}", f"{origin}{_RESOURCE}"]))


def issuer_places(issuer: str) -> list[str]:
    """Where the metadata of an authorization server may be, the likeliest first."""
    parts = urlsplit(issuer)
    origin, path = _origin(parts), parts.path.rstrip("/")
    places = [f"{origin}{_ISSUER}{path}", f"{origin}{_OPENID}{path}", f"{origin}{path}{_OPENID}"]
    return list(dict.fromkeys(places))


def resource_in(told: Mapping[str, Any], server: str, issuer: str) -> ResourceMetadata:
    """A server's metadata, if it is this server's, and it is for `issuer` to give tokens for it.

    Raises: Malformed; Forbidden when it says otherwise.
    """
    try:
        metadata = ResourceMetadata.model_validate(told)
    except ValidationError as error:
        raise Malformed("the server's metadata for OAuth can't be read") from error
    if not _is_within(server, metadata.resource):
        raise Forbidden("the server's metadata is that of another server; no token is asked for")
    if not any(same_issuer(one, issuer) for one in metadata.authorization_servers):
        raise Forbidden(f"the server doesn't take tokens of {issuer}, which the secret is for")
    return metadata


def issuer_in(told: Mapping[str, Any], issuer: str) -> IssuerMetadata:
    """An authorization server's metadata, if it is that of `issuer`. Raises: Malformed, Forbidden."""
    try:
        metadata = IssuerMetadata.model_validate(told)
    except ValidationError as error:
        raise Malformed(f"{issuer}: its metadata can't be read") from error
    if not same_issuer(metadata.issuer, issuer):
        raise Forbidden(f"{issuer}: its metadata is that of another; no token is asked for")
    return metadata


def same_issuer(one: str, other: str) -> bool:
    """As RFC 8414 compares them: letter by letter, but for the slash after a host."""
    return one == other or (
        one.rstrip("/") == other.rstrip("/") and not urlsplit(one).path.strip("/")
    )


def _is_within(server: str, resource: str) -> bool:
    """Whether a token for `resource` is one for the server: the same place, or above it."""
    try:
        ours, theirs = urlsplit(server), urlsplit(resource)
    except ValueError:
        return False
    above = theirs.path.rstrip("/")
    same = _origin(ours) == _origin(theirs) and not (theirs.query or theirs.fragment)
    return same and (ours.path.rstrip("/") == above or ours.path.startswith(f"{above}/"))


def _origin(parts: SplitResult) -> str:
    return f"{parts.scheme}://{parts.netloc}".lower()


def _origin_of(url: str) -> str:
    try:
        return _origin(urlsplit(url))
    except ValueError:
        return ""
