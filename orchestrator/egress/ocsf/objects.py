"""The objects of the schema that events are made of; what isn't known is left out [pure]."""

from functools import lru_cache
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from orchestrator.egress.ocsf.classes import Line, method_of

VIRTUAL = 6
OUTBOUND = 2
_SERVICES = frozenset({"git", "mcp", "model"})
"""Doors at which a service is called by its name: a repository, a tool, a model."""
MOST = 2**31 - 1
"""The schema's integers have 32 bits; its longs have 64."""


_TEXTS = frozenset(
    {
        *("at", "type", "door", "kind", "run", "task", "agent", "sandbox", "address", "subject"),
        *("method", "url", "host", "sni", "target", "decision", "rule", "reason", "result"),
    }
)
_NUMBERS = frozenset({"seq", "of", "port", "status", "bytes_out", "bytes_in", "ms"})
LAST_PORT = 65535


def well_formed(line: Line) -> Line:
    """The line without fields of a wrong type: no line may keep those after it from being sent."""
    return {name: value for name, value in line.items() if _fits(name, value)}


def _fits(name: str, value: object) -> bool:
    if name not in _NUMBERS:
        return isinstance(value, str) if name in _TEXTS else True
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    return 0 < value <= LAST_PORT if name == "port" else value >= 0


def known(**fields: Any) -> dict[str, Any]:
    """Those of the fields that say something: 0 and False do."""
    return {name: value for name, value in fields.items() if value not in (None, "", {}, [])}


def source(line: Line) -> dict[str, Any]:
    """`src_endpoint`: the sandbox."""
    named = known(ip=_ip(str(line.get("address"))), uid=line.get("sandbox")) or {"name": "sandbox"}
    return {**named, "type_id": VIRTUAL, "type": "Virtual"}


def destination(line: Line, came: Line) -> dict[str, Any]:
    """`dst_endpoint`: what was wanted, and the address that it was found at; nothing for a bare port."""
    host = str(line.get("host", ""))
    at, port = _split(str(came.get("target") or line.get("target") or ""))
    named = known(
        hostname="" if _ip(host) else host,
        ip=_ip(at) or _ip(host),
        svc_name=line.get("subject") if line.get("door") in _SERVICES else None,
    )
    return known(**named, port=line.get("port") or port or None) if named else {}


def actor(line: Line) -> dict[str, Any]:
    """`actor`: the agent, in its run."""
    agent = line.get("agent")
    return known(
        user=known(name=agent, uid=agent),
        session=known(uid=line.get("run")),
        app_name="sandgate" if agent or line.get("run") else "",
    )


def request(line: Line, came: Line) -> dict[str, Any]:
    """`http_request`."""
    return known(
        http_method=method_of(line),
        url=_url(line),
        length=_integer(came.get("bytes_out")),
        uid=_uid(line),
    )


def response(came: Line) -> dict[str, Any]:
    """`http_response`; nothing as long as there is no status."""
    if not (code := _integer(came.get("status"))):
        return {}
    latency = _integer(round(came.get("ms") or 0))
    return known(code=code, length=_integer(came.get("bytes_in")), latency=latency)


def traffic(came: Line) -> dict[str, Any]:
    """`traffic`: out is from the sandbox to the world, as in the schema from source to destination."""
    sent, got = came.get("bytes_out"), came.get("bytes_in")
    if sent is None and got is None:
        return {}
    return known(bytes=(sent or 0) + (got or 0), bytes_out=sent, bytes_in=got)


def api(line: Line, came: Line) -> dict[str, Any]:
    """`api`: the tool that was called, or what was done with a model or a repository."""
    operation = line.get("subject") if line.get("kind") == "tool_call" else line.get("kind")
    return known(
        operation=operation or "call",
        request=known(uid=_uid(line)),
        response=known(code=_integer(came.get("status")), message=came.get("result")),
    )


def _uid(line: Line) -> str:
    return str(line.get("seq", ""))


def _url(line: Line) -> dict[str, Any]:
    text, host, port = str(line.get("url", "")), str(line.get("host", "")), line.get("port")
    if not text:
        subject = str(line.get("subject", "")).partition(" ")[2]
        text = f"{host}:{port}" if host and port else host or subject
        return known(url_string=text, hostname=host, port=port) if text else {}
    try:
        parts = urlsplit(text)
    except ValueError:
        return known(url_string=text, hostname=host, port=port)
    return known(
        url_string=text,
        scheme=parts.scheme,
        hostname=host,
        port=port,
        path=parts.path,
        query_string=parts.query,
    )


def _integer(number: int | None) -> int | None:
    """The number, unless it is too long: the length of a very large body is in `traffic` all the same."""
    return number if number is not None and number <= MOST else None


@lru_cache(10_000)
def _ip(text: str) -> str:
    """An address in its usual form; nothing when it is none. They come over and over again."""
    try:
        return str(ip_address(text.strip("[]")))
    except ValueError:
        return ""


def _split(target: str) -> tuple[str, int]:
    """Address and port of `address:port`, or of an address alone."""
    if _ip(target):
        return target, 0
    address, _, port = target.rpartition(":")
    number = int(port) if port.isdecimal() and port.isascii() and len(port) <= len("65535") else 0
    return address, number if number <= LAST_PORT else 0
