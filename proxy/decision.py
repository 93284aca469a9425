"""The answer to every question of the egress policy [pure]. Refusal is a value, never an exception."""

from dataclasses import dataclass
from enum import StrEnum
from http import HTTPStatus

from proxy.addresses import Network


class Cause(StrEnum):
    """Why a request was refused, in one stable word for the log; `status` is what the client sees."""

    NO_IDENTITY = "no_identity"
    FOREIGN_IDENTITY = "foreign_identity"
    POLICY_UNREADABLE = "policy_unreadable"
    NOT_RECORDED = "not_recorded"
    MALFORMED = "malformed"
    DISAGREEMENT = "disagreement"
    HOST = "host"
    PORT = "port"
    SCHEME = "scheme"
    METHOD = "method"
    PATH = "path"
    BODY = "body"
    URL_LENGTH = "url_length"
    HEADER_SIZE = "header_size"
    UPGRADE = "upgrade"
    CONTENT = "content"
    RULE = "rule"
    BUDGET = "budget"
    HELD = "held"
    HONEYTOKEN = "honeytoken"

    @property
    def status(self) -> HTTPStatus:
        """The HTTP status of the refusal."""
        return _STATUS.get(self, HTTPStatus.FORBIDDEN)


_STATUS = {
    Cause.NO_IDENTITY: HTTPStatus.PROXY_AUTHENTICATION_REQUIRED,
    Cause.POLICY_UNREADABLE: HTTPStatus.SERVICE_UNAVAILABLE,
    Cause.NOT_RECORDED: HTTPStatus.SERVICE_UNAVAILABLE,
    Cause.MALFORMED: HTTPStatus.BAD_REQUEST,
    Cause.DISAGREEMENT: HTTPStatus.MISDIRECTED_REQUEST,
    Cause.METHOD: HTTPStatus.METHOD_NOT_ALLOWED,
    Cause.BODY: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    Cause.URL_LENGTH: HTTPStatus.REQUEST_URI_TOO_LONG,
    Cause.HEADER_SIZE: HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE,
    Cause.CONTENT: HTTPStatus.BAD_GATEWAY,
}


@dataclass(frozen=True, slots=True)
class Allow:
    """It may go out now, to `host` and nowhere else: the one canonical form of the name."""

    host: str
    rule: str
    splice: bool = False
    """The connection is opaque: TLS isn't opened, only its SNI is looked at."""
    upgrade: bool = False
    """It may become a WebSocket."""
    max_bytes: int | None = None
    """Most bytes of a response's body."""
    types: frozenset[str] = frozenset()
    """The only media types of a response; empty means any."""
    networks: tuple[Network, ...] = ()
    """Networks that may be dialled for it though they aren't public."""

    @property
    def word(self) -> str:
        return "allow"

    @property
    def reason(self) -> str:
        return ""


@dataclass(frozen=True, slots=True)
class Hold:
    """It waits for a person. `reason` is one sentence that an agent can act on."""

    reason: str
    rule: str
    cause: Cause = Cause.HELD

    @property
    def word(self) -> str:
        return "hold"


@dataclass(frozen=True, slots=True)
class Deny:
    """It may not go out. `reason` is one sentence that an agent can act on."""

    reason: str
    cause: Cause
    rule: str = ""

    @property
    def word(self) -> str:
        return "deny"


Refusal = Hold | Deny
Decision = Allow | Hold | Deny
