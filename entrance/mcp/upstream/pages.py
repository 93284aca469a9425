"""All that a server lists of one kind, page by page."""

from collections.abc import Mapping, Sequence
from typing import Any

import structlog

from entrance.errors import Malformed
from entrance.mcp.connection import Caller, Kind
from entrance.mcp.messages import Failure, Json
from entrance.mcp.upstream.handshake import HandshakeSession
from entrance.mcp.upstream.modern import ModernServer
from entrance.mcp.upstream.param_headers import trouble_with

log = structlog.get_logger()

_MOST_PAGES = 50
_MOST_OF_A_KIND = 2000
_LISTS: Mapping[Kind, tuple[str, str, str]] = {
    "tools": ("tools/list", "tools", "tools"),
    "prompts": ("prompts/list", "prompts", "prompts"),
    "resources": ("resources/list", "resources", "resources"),
    "resources/templates": ("resources/templates/list", "resourceTemplates", "resources"),
}
"""How a kind is asked for, where it stands in the answer, and the capability that it takes."""

Leg = HandshakeSession | ModernServer


async def all_of_kind(caller: Caller, connection: str, leg: Leg, kind: Kind) -> Sequence[Json]:
    """Everything of a kind that can be used. Raises: Malformed, and as `Leg.request`."""
    method, place, capability = _LISTS[kind]
    if capability not in leg.capabilities:
        return ()
    found: list[Json] = []
    params: dict[str, Any] = {}
    for _ in range(_MOST_PAGES):
        page = await leg.request(caller, method, params)
        if isinstance(page, Failure):
            raise Malformed(f"{connection} refuses {method}: {page.message[:200]}")
        many = page.get(place)
        found += [each for each in many if isinstance(each, dict)] if isinstance(many, list) else []
        cursor = page.get("nextCursor")
        if not isinstance(cursor, str) or len(found) >= _MOST_OF_A_KIND:
            break
        params = {"cursor": cursor}
    del found[_MOST_OF_A_KIND:]
    by_headers = kind == "tools" and isinstance(leg, ModernServer)
    return [each for each in found if _is_usable(connection, each)] if by_headers else found


def _is_usable(connection: str, tool: Json) -> bool:
    trouble = trouble_with(tool)
    if trouble:
        name = str(tool.get("name"))[:100]
        log.warning("tool_left_out", connection=connection, tool=name, trouble=trouble)
    return not trouble
