"""A few small pages of the web, as this machine reaches it."""

import socket
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import ip_address

import httpx

TIMEOUT = httpx.Timeout(10.0, connect=5.0)
MOST_BYTES = 32 << 20


class Unreachable(Exception):
    """It can't be had now; the message says what and why."""


@dataclass(frozen=True, slots=True)
class Page:
    """What came, and from where: redirects were followed."""

    url: str
    kind: str
    """Its media type."""
    body: bytes


type Fetch = Callable[[str, str], Page]
"""Gets a URL; the second is what is accepted. Raises: Unreachable."""


def fetch(url: str, accept: str) -> Page:
    """As this machine's own settings of proxies and certificates say. Raises: Unreachable."""
    try:
        with (
            httpx.Client(timeout=TIMEOUT, follow_redirects=True) as http,
            http.stream("GET", url, headers={"Accept": accept}) as answer,
        ):
            answer.raise_for_status()
            body = b""
            for piece in answer.iter_bytes():
                body += piece
                if len(body) > MOST_BYTES:
                    raise Unreachable(f"{url} is too large to be read")
            kind = answer.headers.get("Content-Type", "").partition(";")[0].strip().lower()
            return Page(str(answer.url), kind, body)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise Unreachable(f"{url}: {str(error) or type(error).__name__}") from error


def private_addresses(host: str) -> tuple[str, ...]:
    """A host's addresses, as far as they aren't public; none when it can't be looked up."""
    try:
        found = {info[4][0] for info in socket.getaddrinfo(host, None, proto=socket.IPPROTO_TCP)}
    except OSError:
        return ()
    addresses = {ip_address(str(one).partition("%")[0]) for one in found}
    return tuple(sorted(str(one) for one in addresses if one.is_private and not one.is_loopback))
