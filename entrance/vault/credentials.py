"""Where a secret may go, and how it is put on a request [pure].

A binding names exact hosts, methods and paths; one that leaves any of them out can't be made
(CASE-24). What is judged is the URL that will be dialled, in one canonical form: nothing that the
client says about the host is looked at (CASE-22).
"""

import base64
import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn
from urllib.parse import SplitResult, urlsplit

from entrance.decision import Allow, Deny
from entrance.vault.forms import forms_of
from entrance.vault.kinds import GIT_PATHS, KINDS, SchemeName

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_HOST = re.compile(r"(http://)?([a-z0-9.-]+|\[[0-9a-f:]+\])(:[0-9]{1,5})?")
_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_PATH = re.compile(
    r"/(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%(?!0|1|25|2E|2F|5C|7F)[0-9A-F]{2})*", re.IGNORECASE
)
"""Encoded control characters, dots, slashes and percent signs could be read in two ways."""

_PORTS = {"https": 443, "http": 80}
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
    """The user name of `basic` and `git-host`, the header's name of `header`, the App of `app-jwt`."""

    def __post_init__(self) -> None:
        if not (self.hosts and self.methods and self.paths):
            raise ValueError("a secret needs hosts, methods and paths: it never goes everywhere")
        for host in self.hosts:
            if not _HOST.fullmatch(host):
                raise ValueError(f"{host!r} is not an exact host: write host or host:port")
        if any(not method.isupper() or not method.isalpha() for method in self.methods):
            raise ValueError("methods are words like GET and POST")
        if any(not path.startswith("/") for path in self.paths):
            raise ValueError("path patterns start with a slash")
        if self.scheme in _NAMED and not _TOKEN.fullmatch(self.argument):
            raise ValueError(f"the scheme {self.scheme} needs a name to go with it")

    def allows(self, method: str, url: str) -> Allow | Deny:
        """Whether a request may carry the secret. The reason names no part of the secret."""
        parts = _canonical(url)
        if parts is None:
            return Deny("the address has a form that can't be judged")
        if not any(_same_place(host, parts) for host in self.hosts):
            return Deny(f"the secret is not for {parts.scheme}://{parts.netloc}")
        if method not in self.methods:
            return Deny(f"the secret is not for {method} requests")
        if not any(_path_matches(pattern, parts.path) for pattern in self.paths):
            return Deny(f"the secret is not for the path {parts.path}")
        return Allow()

    def to_meta(self) -> dict[str, Any]:
        """As plain JSON values, in a fixed order."""
        return {
            "scheme": self.scheme,
            "hosts": sorted(self.hosts),
            "methods": sorted(self.methods),
            "paths": sorted(self.paths),
            "argument": self.argument,
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
        )


def binding_of(kind: str, hosts: tuple[str, ...]) -> Binding:
    """The binding of a known kind, `KIND` or `KIND:argument` (`git:oauth2` sets the user name).

    Raises: ValueError when there is no such kind, or the hosts are not exact.
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
    )


@dataclass(frozen=True, slots=True)
class Credential:
    """A secret in the clear with its binding. Lives for one request; shows itself to nobody."""

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

    def _bearer(self) -> "SecretHeaders":
        return SecretHeaders({"authorization": f"Bearer {self.value}"}, self.value)

    def _basic(self) -> "SecretHeaders":
        pair = f"{self.binding.argument}:{self.value}".encode()
        encoded = base64.b64encode(pair).decode()
        return SecretHeaders({"authorization": f"Basic {encoded}"}, self.value, encoded)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a credential is never pickled or copied")


class SecretHeaders(dict[str, str]):
    """Headers that carry a secret: usable as a dict, silent when shown."""

    def __init__(self, headers: Mapping[str, str], *hidden: str) -> None:
        super().__init__(headers)
        values = sorted({*hidden, *headers.values()}, key=len, reverse=True)
        self._hidden = tuple(value.encode() for value in values)
        self._forms: tuple[bytes, ...] = ()

    def redact(self, data: bytes) -> bytes:
        """`data` without the secret, in any of the forms in which it was sent."""
        for value in self._hidden:
            if value in data:
                data = data.replace(value, b"[redacted]")
        return data

    def redact_all(self, data: bytes) -> bytes:
        """`data` without the secret in any form that somebody may tell it back in; see `forms`."""
        if not self._forms:
            forms = {form for value in self._hidden for form in forms_of(value.decode())}
            self._forms = tuple(sorted(forms, key=len, reverse=True))
        for form in self._forms:
            if form in data:
                data = data.replace(form, b"[redacted]")
        return data

    def __repr__(self) -> str:
        return f"SecretHeaders({', '.join(self)})"

    __str__ = __repr__

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("headers with a secret are never pickled or copied")


def _canonical(url: str) -> SplitResult | None:
    """The URL in parts, host lowered, port explicit; None for any form that could be read twice."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    default = _PORTS.get(parts.scheme)
    host = parts.hostname or ""
    plain = _PATH.fullmatch(parts.path) and not {"", ".", ".."} & set(parts.path[1:].split("/"))
    if default is None or not host or parts.username is not None or "\\" in url or not plain:
        return None
    host = f"[{host}]" if ":" in host else host
    return parts._replace(netloc=f"{host}:{port or default}")


def _same_place(bound: str, asked: SplitResult) -> bool:
    plain = bound.startswith("http://")
    host = bound.removeprefix("http://")
    schemes = {"http"} if plain else {"https", "http"} if _is_loopback(host) else {"https"}
    if asked.scheme not in schemes:
        return False
    has_port = re.search(r":[0-9]+$", host.rpartition("]")[2])
    return asked.netloc == (host if has_port else f"{host}:{_PORTS[asked.scheme]}")


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(urlsplit(f"//{host}").hostname or "").is_loopback
    except ValueError:
        return False


def _is_git(url: str) -> bool:
    path = urlsplit(url).path
    return any(_path_matches(pattern, path) for pattern in GIT_PATHS)


def _path_matches(pattern: str, path: str) -> bool:
    return _segments_match(pattern[1:].split("/"), path[1:].split("/"))


def _segments_match(pattern: list[str], path: list[str]) -> bool:
    if not pattern:
        return not path
    if pattern[0] == "**":
        return any(_segments_match(pattern[1:], path[skip:]) for skip in range(len(path) + 1))
    return bool(path) and pattern[0] in {"*", path[0]} and _segments_match(pattern[1:], path[1:])
