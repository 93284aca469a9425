"""Where a secret may go, and how it is put on a request [pure].

A binding names exact hosts, methods and paths; one that leaves any of them out can't be made
(CASE-24). What is judged is the URL that will be dialled, in one canonical form: nothing that the
client says about the host is looked at (CASE-22).
"""

import base64
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NoReturn
from urllib.parse import urlsplit

from entrance.decision import Allow, Deny
from entrance.errors import Forbidden
from entrance.vault.forms import forms_of
from entrance.vault.kinds import GIT_PATHS, KINDS, SchemeName
from entrance.vault.places import HOST, canonical, is_same_place, path_matches

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_CLIENT = re.compile(r"[!-~]{1,500}")
_SCOPE = re.compile(r"[!#-\[\]-~]{1,200}")
_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")

_NAMED = frozenset({"basic", "header", "git-host", "app-jwt"})


@dataclass(frozen=True, slots=True)
class Binding:
    """Where one secret may go and in which form. Raises: ValueError on anything left open.

    A host is `host[:port]`, reached by https; plain http is for this machine's own loopback, and
    for a host that is written with `http://`.
    """

    scheme: SchemeName
    hosts: tuple[str, ...]
    methods: frozenset[str]
    paths: tuple[str, ...]
    argument: str = ""
    """The user name of `basic` and `git-host`, the header's name of `header`, the App of `app-jwt`,
    the client's id of `oauth-client`."""
    issuer: str = ""
    """Of `oauth-client`: the URL of the authorization server, the only place that sees the secret."""
    scopes: tuple[str, ...] = ()
    """Of `oauth-client`: those that are asked for; empty: those that the server wants."""

    def __post_init__(self) -> None:
        if not (self.hosts and self.methods and self.paths):
            raise ValueError("a secret needs hosts, methods and paths: it never goes everywhere")
        for host in self.hosts:
            if not HOST.fullmatch(host):
                raise ValueError(f"{host!r} is not an exact host: write host or host:port")
        if any(not method.isupper() or not method.isalpha() for method in self.methods):
            raise ValueError("methods are words like GET and POST")
        if any(not path.startswith("/") for path in self.paths):
            raise ValueError("path patterns start with a slash")
        self._require_named()

    def _require_named(self) -> None:
        if self.scheme in _NAMED and not _TOKEN.fullmatch(self.argument):
            raise ValueError(f"the scheme {self.scheme} needs a name to go with it")
        if self.scheme == "oauth-client":
            self._require_client()
        elif self.issuer or self.scopes:
            raise ValueError("an issuer and scopes are for a kind that asks for tokens")

    def _require_client(self) -> None:
        if not _CLIENT.fullmatch(self.argument):
            raise ValueError("name the client's id: a word of printable ASCII, as in mcp-oauth:ID")
        if canonical(f"{self.issuer.rstrip('/')}/x") is None or {"?", "#"} & set(self.issuer):
            raise ValueError("name the issuer: the exact URL of the authorization server")
        if not all(_SCOPE.fullmatch(scope) for scope in self.scopes):
            raise ValueError("a scope is one word of printable ASCII without quotes")

    @property
    def at_issuer(self) -> "Binding":
        """Where a client's own secret may go: to its authorization server's host."""
        place = urlsplit(self.issuer)
        host = f"http://{place.netloc}" if place.scheme == "http" else place.netloc
        return Binding("bearer", (host.lower(),), frozenset({"POST"}), ("/**",))

    def allows(self, method: str, url: str) -> Allow | Deny:
        """Whether a request may carry the secret. The reason names no part of the secret."""
        parts = canonical(url)
        if parts is None:
            return Deny("the address has a form that can't be judged")
        if not any(is_same_place(host, parts) for host in self.hosts):
            return Deny(f"the secret is not for {parts.scheme}://{parts.netloc}")
        if method not in self.methods:
            return Deny(f"the secret is not for {method} requests")
        if not any(path_matches(pattern, parts.path) for pattern in self.paths):
            return Deny(f"the secret is not for the path {parts.path}")
        return Allow()

    def to_meta(self) -> dict[str, Any]:
        """As plain JSON values, in a fixed order."""
        client = {"issuer": self.issuer, "scopes": list(self.scopes)} if self.issuer else {}
        return {
            "scheme": self.scheme,
            "hosts": sorted(self.hosts),
            "methods": sorted(self.methods),
            "paths": sorted(self.paths),
            "argument": self.argument,
            **client,
        }

    @classmethod
    def from_meta(cls, meta: Mapping[str, Any]) -> "Binding":
        """The inverse of `to_meta`. Raises: ValueError, KeyError, TypeError on anything else."""
        return cls(
            scheme=meta["scheme"],
            hosts=tuple(meta["hosts"]),
            methods=frozenset(meta["methods"]),
            paths=tuple(meta["paths"]),
            argument=meta["argument"],
            issuer=meta.get("issuer", ""),
            scopes=tuple(meta.get("scopes", ())),
        )


def binding_of(
    kind: str, hosts: tuple[str, ...], issuer: str = "", scopes: tuple[str, ...] = ()
) -> Binding:
    """The binding of a known kind, `KIND` or `KIND:argument` (`git:oauth2` sets the user name).

    Raises: ValueError when there is no such kind, the hosts are not exact, or an issuer is missing.
    """
    name, _, argument = kind.partition(":")
    known = KINDS.get(name)
    if known is None:
        raise ValueError(f"there is no kind {name!r}; known are {', '.join(sorted(KINDS))}")
    return Binding(
        known.scheme,
        tuple(host.lower() for host in hosts),
        known.methods,
        known.paths,
        argument or known.argument,
        issuer,
        scopes,
    )


@dataclass(frozen=True, slots=True)
class Credential:
    """A secret in the clear with its binding; it shows itself to nobody."""

    name: str
    binding: Binding
    value: str = field(repr=False)

    def headers(self, url: str) -> "SecretHeaders":
        """The header that carries the secret in a request to `url`."""
        match self.binding.scheme:
            case "bearer" | "app-jwt":
                return self._bearer()
            case "basic":
                return self._basic()
            case "git-host":
                return self._basic() if _is_git(url) else self._bearer()
            case "header":
                return SecretHeaders({self.binding.argument.lower(): self.value}, self.value)
            case "x-api-key" | "x-goog-api-key" as name:
                return SecretHeaders({name: self.value}, self.value)
            case "oauth-client":
                raise Forbidden(
                    f"secret {self.name!r} is a client's: only its tokens go to servers"
                )

    def _bearer(self) -> "SecretHeaders":
        return SecretHeaders({"authorization": f"Bearer {self.value}"}, self.value)

    def _basic(self) -> "SecretHeaders":
        return basic_of(self.binding.argument, self.value)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a credential is never pickled or copied")


class SecretHeaders(dict[str, str]):
    """Headers that carry a secret: usable as a dict, silent when shown."""

    def __init__(self, headers: Mapping[str, str], *hidden: str) -> None:
        super().__init__(headers)
        values = sorted({*hidden, *headers.values()}, key=len, reverse=True)
        self._hidden = tuple(value.encode() for value in values)

    @cached_property
    def _forms(self) -> tuple[bytes, ...]:
        forms = {form for value in self._hidden for form in forms_of(value.decode())}
        return tuple(sorted(forms, key=len, reverse=True))

    @cached_property
    def _least(self) -> tuple[bytes, ...]:
        """The forms of those values that have no other in them: what has any in it has one of these."""
        values = [
            one for one in self._hidden if not any(o != one and o in one for o in self._hidden)
        ]
        return tuple(form for value in values for form in forms_of(value.decode()))

    def redact(self, data: bytes) -> bytes:
        """`data` without the secret, in any of the forms in which it was sent."""
        for value in self._hidden:
            if value in data:
                data = data.replace(value, b"[redacted]")
        return data

    def redact_all(self, data: bytes) -> bytes:
        """`data` without the secret in any form that somebody may tell it back in; see `forms`."""
        if not any(form in data for form in self._least):
            return data
        for form in self._forms:
            if form in data:
                data = data.replace(form, b"[redacted]")
        return data

    def __repr__(self) -> str:
        return f"SecretHeaders({', '.join(self)})"

    __str__ = __repr__

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("headers with a secret are never pickled or copied")


def basic_of(user: str, password: str, *hidden: str) -> SecretHeaders:
    """A user and its password. `hidden`: what besides must not be told back."""
    encoded = base64.b64encode(f"{user}:{password}".encode()).decode()
    return SecretHeaders({"authorization": f"Basic {encoded}"}, password, encoded, *hidden)


def _is_git(url: str) -> bool:
    path = urlsplit(url).path
    return any(path_matches(pattern, path) for pattern in GIT_PATHS)
