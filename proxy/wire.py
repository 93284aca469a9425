"""Whether a request's form on the wire is sound, whatever it asks for [pure].

CONNECT host, SNI, Host and the target's authority must name one and the same place (RFC 9110 7.1,
7.2); bodies are framed in the one way that nobody reads differently (RFC 9112 6); what would ask for
another protocol, or have a server take one method for another, doesn't go on.
"""

import re
from collections.abc import Callable, Iterable, Sized
from dataclasses import dataclass

from proxy.decision import Cause, Deny
from proxy.hosts import canonical_host, host_and_port
from proxy.rules import DEFAULT_PORTS, READ_ONLY

Headers = tuple[tuple[str, str], ...]
"""Names and values, in the order of the wire; one name may stand several times."""

MAX_HEADERS = 16 << 10
"""Bytes of all headers as they stand on the wire."""
STRIPPED = frozenset(
    {
        *(
            "proxy-authorization",
            "proxy-authenticate",
            "proxy-connection",
            "proxy-authentication-info",
        ),
        *("x-http-method-override", "x-http-method", "x-method-override", "x-method"),
        *("x-forwarded-host", "x-forwarded-server", "x-host", "x-original-url", "x-rewrite-url"),
        *("x-original-host", "forwarded", "via", "keep-alive", "te", "trailer"),
        "sec-websocket-extensions",
    }
)
"""Never sent on: the proxy's own, what overrides method or place, what is between two hops."""
_OF_UPGRADES = frozenset({"upgrade", "http2-settings"})
_METHOD = re.compile(r"[A-Z][A-Z-]{0,23}", re.ASCII)
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", re.ASCII)
_VALUE = re.compile(r"[^\x00-\x08\x0a-\x1f\x7f]*")
_TARGET = re.compile(r"/[\x21-\x22\x24-\x7e]*", re.ASCII)
_LENGTH = re.compile(r"[0-9]{1,15}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wire:
    """A request as it came in."""

    method: str
    scheme: str
    host: str
    """Of the tunnel when it came in one, else of the target."""
    port: int
    target: str
    """Path and query."""
    authority: str
    """Host and port in a target of absolute form; empty for another form."""
    version: str
    headers: Headers
    tls: bool
    sni: str | None

    def all_of(self, name: str) -> list[str]:
        """The values of a header, by its lower-case name."""
        return [value.strip() for found, value in self.headers if found.lower() == name]


def flaw(wire: Wire) -> Deny | None:
    """What is wrong with it; None when it is sound."""
    for check in CHECKS:
        found = check(wire)
        if found is not None:
            return found
    return None


def tunnel_to(authority: str, headers: Headers) -> tuple[str, int] | Deny:
    """The canonical host and the port of a CONNECT request, or what is wrong with it."""
    try:
        there = host_and_port(authority, 0)
        hosts = [host_and_port(v.strip(), there[1]) for n, v in headers if n.lower() == "host"]
    except ValueError as error:
        return Deny(f"{error}", Cause.MALFORMED)
    if any(host != there for host in hosts):
        return Deny("Host names another place than CONNECT", Cause.DISAGREEMENT)
    if any(name.lower() in {"content-length", "transfer-encoding"} for name, _ in headers):
        return Deny("CONNECT may not have a body", Cause.BODY)
    return _header_lines(headers) or there


def sent_on(headers: Iterable[tuple[str, str]]) -> Headers:
    """The headers that go on: without those of the proxy, and those that `Connection` names."""
    kept = tuple(headers)
    named = {
        word.strip().lower()
        for name, value in kept
        if name.lower() == "connection"
        for word in value.split(",")
    }
    dropped = (STRIPPED | named | {"connection"}) - {"host", "content-length", "transfer-encoding"}
    return tuple((name, value) for name, value in kept if name.lower() not in dropped)


def as_text(fields: Iterable[tuple[bytes, bytes]]) -> Headers:
    """Headers as they are judged, of those on the wire."""
    return tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in fields)


def size_of(headers: Iterable[tuple[Sized, Sized]]) -> int:
    """Their bytes on the wire."""
    return sum(len(name) + len(value) + len(": \r\n") for name, value in headers)


def _line(wire: Wire) -> Deny | None:
    if wire.version not in {"HTTP/1.0", "HTTP/1.1"}:
        return Deny(f"{wire.version} is not spoken here", Cause.MALFORMED)
    if not _METHOD.fullmatch(wire.method):
        return Deny("methods are upper-case words", Cause.MALFORMED)
    if not _TARGET.fullmatch(wire.target):
        return Deny("the target has characters that a URL can't have", Cause.MALFORMED)
    return None


def _header_lines(headers: Headers) -> Deny | None:
    if size_of(headers) > MAX_HEADERS:
        return Deny(f"the headers are larger than {MAX_HEADERS} bytes", Cause.HEADER_SIZE)
    if all(_NAME.fullmatch(name) and _VALUE.fullmatch(value) for name, value in headers):
        return None
    return Deny("a header has characters that it can't have", Cause.MALFORMED)


def _one_place(wire: Wire) -> Deny | None:
    """SNI, Host and authority against where it would go."""
    if wire.scheme == "https" and not wire.tls:
        return Deny("https is asked for through a tunnel (CONNECT)", Cause.MALFORMED)
    hosts = wire.all_of("host")
    if len(hosts) > 1 or (not hosts and not (wire.authority and wire.version == "HTTP/1.0")):
        return Deny("a request has one Host header", Cause.MALFORMED)
    default = DEFAULT_PORTS.get(wire.scheme, 0)
    try:
        there = (canonical_host(wire.host), wire.port)
        named = [("Host", host_and_port(host, default)) for host in hosts]
        if wire.authority:
            named.append(("the target", host_and_port(wire.authority, default)))
        if wire.tls:
            named.append(("SNI", (canonical_host(wire.sni or ""), wire.port)))
    except ValueError as error:
        return Deny(f"{error}", Cause.MALFORMED)
    for what, place in named:
        if place != there:
            said, meant = (f"{host}:{port}" for host, port in (place, there))
            return Deny(f"{what} says {said}, the connection is to {meant}", Cause.DISAGREEMENT)
    return None


def _body(wire: Wire) -> Deny | None:
    lengths, codings = wire.all_of("content-length"), wire.all_of("transfer-encoding")
    if len(lengths) + len(codings) > 1:
        return Deny("a body is framed in one way, not in several", Cause.MALFORMED)
    if any(not _LENGTH.fullmatch(length) for length in lengths):
        return Deny("Content-Length is a plain number", Cause.MALFORMED)
    if any(coding.lower() != "chunked" for coding in codings):
        return Deny("Transfer-Encoding may only be chunked", Cause.MALFORMED)
    if wire.method in READ_ONLY and (codings or any(int(length) for length in lengths)):
        return Deny(f"{wire.method} may not have a body", Cause.BODY)
    return None


def _upgrade(wire: Wire) -> Deny | None:
    asked = [word.lower() for word in wire.all_of("upgrade")]
    words = {
        word.strip().lower() for value in wire.all_of("connection") for word in value.split(",")
    }
    if not asked and not words & _OF_UPGRADES and not wire.all_of("http2-settings"):
        return None
    if asked == ["websocket"] and words <= {"upgrade", "keep-alive"} and wire.method == "GET":
        return None
    return Deny("a connection may only be upgraded to websocket", Cause.UPGRADE)


def wants_upgrade(wire: Wire) -> bool:
    """Say whether a sound request asks for a WebSocket."""
    return bool(wire.all_of("upgrade"))


CHECKS: tuple[Callable[[Wire], Deny | None], ...] = (
    _line,
    lambda wire: _header_lines(wire.headers),
    _one_place,
    _body,
    _upgrade,
)
"""In the order in which their reasons are told."""
