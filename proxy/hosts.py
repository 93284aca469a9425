"""Names of hosts in their one canonical form, and patterns over them [pure].

What is judged is what is dialled: every name passes here once, and only its result goes on.
"""

import re
from functools import lru_cache

import idna

MAX_NAME = 253
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?", re.ASCII)
_HEX = re.compile(r"0x[0-9a-f]*", re.ASCII)
_HOST_PORT = re.compile(r"([^:\[\]@/?#\s]+)(?::([0-9]{1,5}))?", re.ASCII)
ANY = "*"
_BELOW = "*."


@lru_cache(maxsize=4096)
def canonical_host(text: str) -> str:
    """The name in lower case and without its final dot.

    Only names as DNS and URLs carry them (RFC 1123, RFC 3986): ASCII, at least two labels. An address
    in any notation (dotted, decimal, octal, hex, IPv6) is no name; nor is anything with userinfo,
    percent signs, control bytes or NUL. Raises: ValueError, in a sentence.
    """
    if not text.isascii():
        raise ValueError("a host name on the wire is ASCII; others go in their xn-- form")
    name = text.lower().removesuffix(".")
    labels = name.split(".")
    if len(name) > MAX_NAME or not all(_LABEL.fullmatch(label) for label in labels):
        raise ValueError(f"{text.rpartition('@')[2][:80]!a} is no host name")
    # As browsers have it: a name whose last label is a number is read as an IPv4 address by somebody.
    if labels[-1].isdigit() or _HEX.fullmatch(labels[-1]):
        raise ValueError(f"{text!a} is an address; hosts are reached by name only")
    if len(labels) == 1:
        raise ValueError(f"{text!a} is a name without a domain")
    return name


def host_and_port(authority: str, default_port: int) -> tuple[str, int]:
    """The canonical host and the port of `host[:port]`. Raises: ValueError, in a sentence."""
    found = _HOST_PORT.fullmatch(authority)
    if found is None:
        raise ValueError("a place is a host, or a host and a port")
    port = int(found[2]) if found[2] else default_port
    if not 0 < port < 1 << 16:
        raise ValueError(f"{port} is no port")
    return canonical_host(found[1]), port


@lru_cache(maxsize=4096)
def canonical_pattern(text: str) -> str:
    """A pattern as it is matched: a name, `*.` and a name for every name below it, or `*` for any.

    Names in other scripts are put into their xn-- form (IDNA 2008, UTS 46). Raises: ValueError.
    """
    if text == ANY:
        return text
    prefix = _BELOW if text.startswith(_BELOW) else ""
    name = text.removeprefix(prefix)
    if not name.isascii():
        try:
            name = idna.encode(name, uts46=True).decode()
        except idna.IDNAError as error:
            raise ValueError(f"{text!a} is no host name: {error}") from error
    return prefix + canonical_host(name)


def host_matches(pattern: str, host: str) -> bool:
    """Say whether the canonical pattern covers the canonical host; `*.a.example` isn't `a.example`."""
    if pattern.startswith(_BELOW):
        return host.endswith(pattern[1:]) and host != pattern[1:]
    return pattern in (ANY, host)
