"""The rules of a sandbox [pure]: the very shape in which they stand in the policy file."""

import re
from dataclasses import dataclass
from enum import StrEnum
from ipaddress import ip_address
from typing import ClassVar, Literal

from proxy.addresses import Network, network
from proxy.canaries import Canary
from proxy.hosts import canonical_pattern, host_matches
from proxy.paths import covers_all, covers_any, glob

DEFAULT_PORTS = {"http": 80, "https": 443}
READ_ONLY = frozenset({"GET", "HEAD"})
NEVER = frozenset({"CONNECT", "TRACE", "TRACK"})
HONEYTOKEN = "honeytoken"
"""The rule that a record names when a canary was to go out; whoever reads it freezes the sandbox."""
_METHOD = re.compile(r"[A-Z][A-Z-]{0,23}", re.ASCII)
_SHA256 = re.compile(r"[0-9a-f]{64}", re.ASCII)
_TYPE = re.compile(r"[a-z0-9.+-]+/(?:\*|[a-z0-9.+-]+)", re.ASCII)


class Mode(StrEnum):
    """What becomes of a request that a rule covers."""

    ALLOW = "allow"
    HOLD = "hold"
    DENY = "deny"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Which requests, and what becomes of them. Whatever isn't said is the narrow side.

    Raises: ValueError when a value means nothing.
    """

    __pydantic_config__: ClassVar[dict[str, str | bool]] = {"extra": "forbid", "strict": True}

    name: str
    host: str
    """A name, `*.` and a name for every name below it (not itself), or `*` for any."""
    mode: Mode = Mode.ALLOW
    methods: frozenset[str] = READ_ONLY
    paths: tuple[str, ...] = ("/**",)
    """Globs: `*` within a segment, `**` across them."""
    query: str | None = None
    """Exactly this query, as it stands behind the `?`; empty means none, None any."""
    ports: frozenset[int] = frozenset()
    """Empty: the port of the scheme."""
    schemes: frozenset[Literal["http", "https"]] = frozenset({"https"})
    splice: bool = False
    """TLS stays closed to us (a client that pins certificates): methods and paths can't be judged then."""
    upgrade: bool = False
    """A WebSocket may come of it."""
    approval: str = ""
    """The person's approval that it comes from. Such a rule beats those that hold, none that denies."""
    uses: int | None = None
    """So many requests, then no more."""
    max_bytes: int | None = None
    """Most bytes of one response's body."""
    types: frozenset[str] = frozenset()
    """The only media types of a response (`text/*`); empty means any."""
    networks: tuple[str, ...] = ()
    """Networks that aren't public but may be dialled for this host: a company's own mirror."""

    def __post_init__(self) -> None:
        if not self.name:
            raise ValueError("a rule needs a name")
        if self.name == HONEYTOKEN:
            raise ValueError(f"no rule is called {HONEYTOKEN}: its refusals would freeze sandboxes")
        canonical_pattern(self.host)
        for path in self.paths:
            glob(path)
        for text in self.networks:
            network(text)
        wrong = [one for one in self.methods if not _METHOD.fullmatch(one) or one in NEVER]
        wrong += [one for one in self.types if not _TYPE.fullmatch(one)]
        wrong += [str(one) for one in self.ports if not 0 < one < 1 << 16]
        counts = [one for one in (self.uses, self.max_bytes) if one is not None]
        wrong += [str(one) for one in counts if one < 0]
        if self.splice and not (self.whole and self.schemes == {"https"}):
            wrong.append("what is spliced can't be judged by path or scheme")
        if wrong or not (self.methods and self.paths and self.schemes):
            raise ValueError(f"rule {self.name}: {', '.join(wrong) or 'it covers nothing'}")

    def names(self, host: str) -> bool:
        """Say whether it is about the canonical host."""
        return host_matches(canonical_pattern(self.host), host)

    def opens(self, scheme: str, port: int) -> bool:
        """Say whether it is about that port with that scheme."""
        return scheme in self.schemes and port in (self.ports or {DEFAULT_PORTS[scheme]})

    def covers(self, paths: frozenset[str], query: str = "") -> bool:
        """Say whether it is about a path with these readings, and this query."""
        covers = covers_all if self.mode is Mode.ALLOW else covers_any
        return self.query in {None, query} and covers(self.paths, paths)

    @property
    def whole(self) -> bool:
        """Whether it is about every path and query."""
        return "/**" in self.paths and self.query is None

    @property
    def dialable(self) -> tuple[Network, ...]:
        """`networks`, parsed."""
        return tuple(network(text) for text in self.networks)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a run may use in all; None means as much as it likes."""

    __pydantic_config__: ClassVar[dict[str, str | bool]] = {"extra": "forbid", "strict": True}

    requests: int | None = None
    bytes: int | None = None
    """Both ways, bodies and heads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxPolicy:
    """One sandbox: who it is, and what it may reach. Without rules, nothing.

    Raises: ValueError when a value means nothing.
    """

    __pydantic_config__: ClassVar[dict[str, str | bool]] = {"extra": "forbid", "strict": True}

    run: str
    address: str
    """Its address on the sandbox network."""
    token_sha256: str
    """Hex SHA-256 of its run token."""
    rules: tuple[Rule, ...] = ()
    """By name; no two have the same one."""
    limits: Limits = Limits()
    canaries: tuple[Canary, ...] = ()
    """Credentials that are nobody's: one that goes out is to be refused, and told."""

    def __post_init__(self) -> None:
        ip_address(self.address)
        if not _SHA256.fullmatch(self.token_sha256):
            raise ValueError("token_sha256 is 64 hex digits in lower case")
        if len({rule.name for rule in self.rules}) != len(self.rules):
            raise ValueError(f"two rules of run {self.run} have one name")
