"""How a sandbox network's table stands in the kernel. Everything blocks, for some milliseconds."""

import secrets
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from entrance.errors import Malformed
from orchestrator.adapters.firewall.counting import counted_in
from orchestrator.adapters.firewall.form import unlike
from orchestrator.adapters.firewall.nft import listing, tried
from orchestrator.adapters.firewall.table import (
    Bridge,
    flaws,
    parse_listing,
    table_text,
)
from orchestrator.domain.dropped import Counted

MISSING = "it is missing"
GENERATIONS = 1 << 31


def listed(bridge: Bridge) -> Mapping[str, Any] | None:
    """The table as the kernel has it; None when it has none. Raises: Unavailable.

    One that can't be read has nothing of ours in it: nft 1.0.6 prints freed memory for the flags of a
    table, and ours has none.
    """
    text = listing(bridge.name)
    try:
        return None if text is None else parse_listing(text)
    except Malformed:
        return {}


def wrong_with(found: Mapping[str, Any] | None, bridge: Bridge) -> list[str]:
    """What is wrong with a listing; empty when it stands whole. Raises: Unavailable, Malformed."""
    if found is None:
        return [MISSING]
    return flaws(found, bridge) or unlike(found, as_made(bridge))


@lru_cache(maxsize=8)
def as_made(bridge: Bridge) -> Mapping[str, Any]:
    """The table as this nft and this kernel list it when it was just made.

    It is made in a network namespace of its own, which nothing passes through and which is gone
    at once. Raises: Unavailable, Malformed.
    """
    return parse_listing(tried(table_text(bridge, [], Counted(1)), bridge.name))


def counted_on(found: Mapping[str, Any] | None) -> Counted:
    """What a table that is made in the place of `found` goes on counting from: it, or nothing at all."""
    return (found and counted_in(found)) or Counted(1 + secrets.randbelow(GENERATIONS))
