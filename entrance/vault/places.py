"""Places that a secret may go to, and whether a URL is one of them [pure].

What is judged is the URL that will be dialled, in one canonical form; one that could be read in two
ways is none.
"""

import ipaddress
import re
from urllib.parse import SplitResult, urlsplit

HOST = re.compile(r"(http://)?([a-z0-9.-]+|\[[0-9a-f:]+\])(:[0-9]{1,5})?")
_PATH = re.compile(
    r"/(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%(?!0|1|25|2E|2F|5C|7F)[0-9A-F]{2})*", re.IGNORECASE
)
"""Encoded control characters, dots, slashes and percent signs could be read in two ways."""

_PORTS = {"https": 443, "http": 80}


def canonical(url: str) -> SplitResult | None:
    """The URL in parts, host lowered, port explicit; None for any form that could be read twice."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    default = _PORTS.get(parts.scheme)
    host = parts.hostname or ""
    segments = parts.path[1:].split("/")
    plain = _PATH.fullmatch(parts.path) and not (
        {".", ".."} & set(segments) or "" in segments[:-1] or segments == [""]
    )
    if default is None or not host or parts.username is not None or "\\" in url or not plain:
        return None
    host = f"[{host}]" if ":" in host else host
    return parts._replace(netloc=f"{host}:{port or default}")


def is_same_place(bound: str, asked: SplitResult) -> bool:
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


def path_matches(pattern: str, path: str) -> bool:
    return _segments_match(pattern[1:].split("/"), path[1:].split("/"))


def _segments_match(pattern: list[str], path: list[str]) -> bool:
    if not pattern:
        return not path
    if pattern[0] == "**":
        return any(_segments_match(pattern[1:], path[skip:]) for skip in range(len(path) + 1))
    return bool(path) and pattern[0] in {"*", path[0]} and _segments_match(pattern[1:], path[1:])
