"""Looks through the names of paths and branches, which go to the host like all else [pure]."""

from collections.abc import Iterable, Mapping
from itertools import batched

from entrance.git.checks.facts import Telling
from entrance.git.checks.scanners.passing import Pass

MASK = b"***"
_AT_ONCE = 500
"""So many names are looked through in one go; one by one only where something is among them."""


def telling(names: Iterable[bytes]) -> Mapping[bytes, Telling]:
    """Those in which something is seen."""
    return {
        name: Telling(whats, _masked(name))
        for some in batched(dict.fromkeys(names), _AT_ONCE)
        if _seen(b"\n".join(some))
        for name in some
        if (whats := _seen(name))
    }


def _masked(name: bytes) -> bytes:
    """The name without the parts that tell; without any where it takes several of them to tell."""
    parts = [MASK if _seen(part) else part for part in name.split(b"/")]
    return b"/".join(parts) if MASK in parts else MASK


def _seen(text: bytes) -> tuple[str, ...]:
    """The kinds that are in it."""
    scan = Pass("")
    scan.feed(text)
    return tuple(dict.fromkeys(one.what for one in scan.close()))
