"""Whether a request was meant for this door, by its `Host` and `Origin` [pure].

A page in a browser can have its own name point at the door's address and then speak to it. The name
gives it away: the door is only ever called by the address that it listens on, or as `localhost`.
"""

import ipaddress
from collections.abc import Sequence
from functools import lru_cache
from urllib.parse import urlsplit

_LOCALHOST = "localhost"


def foreign(own: str, hosts: Sequence[str], origins: Sequence[str]) -> str:
    """Why a request that came in at the address `own` was not meant for it; empty when it was."""
    if len(hosts) != 1 or not _is_own(own, f"//{hosts[0]}"):
        return "The Host of the request is not this door's address."
    if any(not _is_own(own, origin) for origin in origins):
        return "The Origin of the request is not this door: no other site's page is served here."
    return ""


@lru_cache(1024)
def _is_own(own: str, url: str) -> bool:
    try:
        parts = urlsplit(url)
        name = parts.hostname or ""
        _ = parts.port  # raises where it is none
        mine = ipaddress.ip_address(own.partition("%")[0])
    except ValueError:
        return False
    if parts.username is not None:
        return False
    if name == _LOCALHOST:
        return mine.is_loopback
    try:
        asked = ipaddress.ip_address(name)
    except ValueError:
        return False
    return asked == mine or (asked.is_loopback and mine.is_loopback)
