"""What is recorded: one decision and one outcome for every attempt, whichever door it came to.

A record that can't be written raises `Unavailable`, and the request is refused: a decision
that isn't recorded isn't answered (design decision 6).

Nobody changes a record. They are not frozen all the same, as several are made for each attempt, and
Python takes four times as long for one that is.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol
from urllib.parse import SplitResult, parse_qsl, urlencode, urlsplit

from entrance.decision import Decision
from entrance.log.body_hash import HASHED_BYTES, BodyHash
from entrance.ports import Cause
from entrance.session import RunId, Session

Door = Literal["entrance", "model", "mcp", "git", "egress", "fence"]
Kind = Literal[
    "auth",
    "request",
    "tool_call",
    "git_fetch",
    "git_push",
    "attestation",
    "model_call",
    "http",
    "connect",
    "tls",
    "packet",
    "recount",
]

DOORS: Mapping[Kind, Door] = {
    "auth": "entrance",
    "request": "entrance",
    "tool_call": "mcp",
    "git_fetch": "git",
    "git_push": "git",
    "attestation": "git",
    "model_call": "model",
    "http": "egress",
    "connect": "egress",
    "tls": "egress",
    "packet": "fence",
    "recount": "fence",
}
"""Where each kind of attempt is decided, unless its record names another door."""

SECRET_PARAMETERS = frozenset({"key", "access_token", "api_key", "apikey", "token", "sig"})
"""Parameters of a query whose values are never written down."""


@dataclass(slots=True)
class Request:
    """What was asked for, as far as it applies. `target` is the address that it went to."""

    method: str = ""
    url: str = ""
    host: str = ""
    port: int = 0
    sni: str = ""
    target: str = ""

    @classmethod
    def to(cls, method: str, url: str) -> "Request":
        """A request to a URL, which is kept without user and secrets."""
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
        return cls(method, shown(parts), host, port)


def shown(parts: SplitResult) -> str:
    """A URL as it may be written down: without user, fragment, and values that are secrets."""
    query = parts.query
    if query:
        given = parse_qsl(query, keep_blank_values=True)
        if any(name.lower() in SECRET_PARAMETERS for name, _ in given):
            query = urlencode([pair for pair in given if pair[0].lower() not in SECRET_PARAMETERS])
    netloc = parts.netloc.rpartition("@")[2]
    return parts._replace(netloc=netloc, query=query, fragment="").geturl()


@dataclass(frozen=True, slots=True)
class Whose:
    """Whose attempt it was, where that is known without an open session."""

    run: RunId
    task: str = ""
    agent: str = ""
    sandbox: str = ""
    address: str = ""
    server: str = ""


@dataclass(slots=True)
class Decided:
    """What was decided about one attempt. `subject` names the thing wanted; `detail` adds facts."""

    kind: Kind
    subject: str
    decision: Decision
    session: Session | Whose | None = None
    """None when it can't be said whose attempt it was (then `address` still says where it came from)."""
    address: str = ""
    run: RunId | None = None
    """The run that a refused token belonged to, where there is no session to say so."""
    detail: Mapping[str, Any] = field(default_factory=dict)
    request: Request | None = None
    rule: str = ""
    """The name of the rule that decided."""
    cause: Cause | None = None
    """What caused it, where the attempt itself says so; what the run has open is added by the log."""
    door: Door | None = None
    """None: the one of its kind."""
    key: str = ""
    """Given by who hands it in, for one that may be told again: it is recorded once."""

    @property
    def of_run(self) -> RunId | None:
        """The run that it is of, as far as that is known."""
        return self.session.run if self.session else self.run

    @property
    def decided_at(self) -> Door:
        return self.door or DOORS[self.kind]


@dataclass(slots=True)
class Traffic:
    """What went over the wire. `bytes_out` is what left the sandbox, `bytes_in` what came back.

    Hashes are SHA-256, hex, over the first `hashed_bytes` of a body at most.
    """

    status: int = 0
    bytes_out: int | None = None
    bytes_in: int | None = None
    request_sha256: str = ""
    response_sha256: str = ""
    hashed_bytes: int = 0
    target: str = ""
    ms: int | None = None
    """How long it took; the log knows it itself when nobody says it."""

    @classmethod
    def of(cls, sent: BodyHash, came: BodyHash, status: int = 0) -> "Traffic":
        """What two bodies were."""
        return cls(
            status, sent.bytes, came.bytes, sent.sha256, came.sha256, hashed_bytes=HASHED_BYTES
        )


@dataclass(slots=True)
class Outcome:
    """What came of an allowed attempt: `of` is the decision's sequence number."""

    of: int
    result: str
    detail: Mapping[str, Any] = field(default_factory=dict)
    traffic: Traffic | None = None


class Audit(Protocol):
    """Where decisions are recorded."""

    async def decided(self, record: Decided) -> int:
        """Record it and return its sequence number. Raises: Unavailable if it can't be written."""
        ...

    def deciding(self, record: Decided) -> "asyncio.Future[int]":
        """Begin to record it; its sequence number once that is done, and until then it does not count.

        The future fails as `decided` does.
        """
        ...

    async def kept(self, number: "asyncio.Future[int]") -> int:
        """Wait for what `deciding` began, with nothing else to do. Raises: Unavailable.

        Several may wait for one; one of them that is cancelled doesn't cancel it for the others.
        """
        ...

    async def came_of_it(self, record: Outcome) -> None:
        """Record what came of a decision. Raises: Unavailable."""
        ...

    async def ended(self, record: Outcome) -> None:
        """The same, where the client need not wait for the disk: it is written when this returns.

        On the disk it is with the next decision, or shortly after. Raises: Unavailable when it can't
        be written.
        """
        ...
