"""The Agent Pool's connections to MCP servers, as the door takes them.

Only the pool's own count: whoever may write items of another project makes no connection.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import structlog

from entrance.ports import McpServer, Transport
from entrance.session import Backend
from entrance.tool_policy import Bounds, Mode
from orchestrator.adapters.polarion.client import PolarionClient
from orchestrator.adapters.polarion.query import matching
from orchestrator.adapters.polarion.resources import WorkItem
from orchestrator.adapters.polarion.richtext import plain, rich
from orchestrator.domain.egress import Unreadable
from orchestrator.domain.stdio_server import stdio_of
from orchestrator.domain.tool_grants import connection_policy

log = structlog.get_logger()

FIELDS = (
    *("title", "status", "url", "secretName", "toolPolicy"),
    *("transport", "command", "environment", "egress"),
)
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,31}")
"""It stands in grants, and before the names of tools."""
_URL = re.compile(r"https?://[A-Za-z0-9.\-\[\]:]+/[A-Za-z0-9._~/-]*")


@dataclass
class PolarionServers:
    """Reads them. `pool` is the Agent Pool's project."""

    client: PolarionClient
    pool: str
    _left_out: frozenset[tuple[str, str]] = field(init=False, default=frozenset())

    async def active(self) -> list[McpServer]:
        """Those that may be used, by name; one that can't be read is left out. Raises: SandgateError."""
        query = matching({"type": "mcpConnection", "status": "active"})
        found: dict[str, McpServer] = {}
        left_out: set[tuple[str, str]] = set()
        async for item in self.client.items.query(query, project=self.pool, fields=FIELDS):
            server = server_of(item)
            if isinstance(server, Unreadable):
                left_out.add((item.id, server.reason))
            elif server.name in found:
                left_out.add((item.id, f"there is another one called {server.name}"))
            else:
                found[server.name] = server
        for item_id, why in sorted(left_out - self._left_out):  # the log is told once
            log.warning("connection_left_out", item=item_id, why=why)
        self._left_out = frozenset(left_out)
        return list(found.values())


def server_of(item: WorkItem) -> McpServer | Unreadable:
    """The connection that an item describes; its title is its name. Or why it describes none."""
    if not _NAME.fullmatch(item.title):
        return Unreadable("its title is no name of a connection")
    try:
        modes, bounds = connection_policy(plain(rich(item.custom, "toolPolicy")))
    except ValueError:  # what it forbids can't be known
        return Unreadable("its tool policy can't be read")
    match item.custom.get("transport") or "http":
        case "http" | "sse" as transport:
            return _over_http(item, modes, bounds, transport)
        case "stdio":
            return _over_stdio(item, modes, bounds)
        case other:
            return Unreadable(f"there is no transport {str(other)[:40]!r}")


def _over_http(
    item: WorkItem, modes: Mapping[str, Mode], bounds: Bounds, transport: Transport
) -> McpServer | Unreadable:
    url, secret = item.custom.get("url"), item.custom.get("secretName") or ""
    if not isinstance(url, str) or not isinstance(secret, str) or not _URL.fullmatch(url):
        return Unreadable("its URL is none of an MCP server")
    return McpServer(item.title, url, secret, modes, bounds, transport)


def _over_stdio(
    item: WorkItem, modes: Mapping[str, Mode], bounds: Bounds
) -> McpServer | Unreadable:
    url, secret = (str(item.custom.get(name) or "") for name in ("url", "secretName"))
    backend = Backend(url, secret) if url or secret else None
    command, environment, egress = (
        plain(rich(item.custom, name)) for name in ("command", "environment", "egress")
    )
    stdio = stdio_of(command, environment, egress, item.id, backend)
    if isinstance(stdio, Unreadable):
        return stdio
    return McpServer(item.title, modes=modes, bounds=bounds, stdio=stdio)
