"""The Agent Pool's connections to MCP servers, as the door takes them.

Only the pool's own count: whoever may write items of another project makes no connection.
"""

import re
from dataclasses import dataclass

import structlog
from pydantic import TypeAdapter, ValidationError

from entrance.ports import McpServer
from entrance.tool_policy import Mode
from orchestrator.adapters.polarion.client import PolarionClient
from orchestrator.adapters.polarion.query import matching
from orchestrator.adapters.polarion.resources import WorkItem
from orchestrator.adapters.polarion.richtext import plain, rich

log = structlog.get_logger()

FIELDS = ("title", "status", "url", "secretName", "toolPolicy")
_MODES: TypeAdapter[dict[str, Mode]] = TypeAdapter(dict[str, Mode])
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,31}")
"""It stands in grants, and before the names of tools."""
_URL = re.compile(r"https?://[A-Za-z0-9.\-\[\]:]+/[A-Za-z0-9._~/-]*")


@dataclass(frozen=True, slots=True)
class PolarionServers:
    """Reads them. `pool` is the Agent Pool's project."""

    client: PolarionClient
    pool: str

    async def active(self) -> list[McpServer]:
        """Those that may be used, by name; one that can't be read is left out. Raises: SandgateError."""
        query = matching({"type": "mcpConnection", "status": "active"})
        found: dict[str, McpServer] = {}
        async for item in self.client.items.query(query, project=self.pool, fields=FIELDS):
            server = server_of(item)
            if server is None or server.name in found:
                log.warning("connection_left_out", item=item.id)
                continue
            found[server.name] = server
        return list(found.values())


def server_of(item: WorkItem) -> McpServer | None:
    """The connection that an item describes; its title is its name. None when it describes none."""
    url, secret = item.custom.get("url"), item.custom.get("secretName") or ""
    if not isinstance(url, str) or not isinstance(secret, str):
        return None
    if not _NAME.fullmatch(item.title) or not _URL.fullmatch(url):
        return None
    try:
        modes = _MODES.validate_json(plain(rich(item.custom, "toolPolicy")) or "{}")
    except ValidationError:  # what it forbids can't be known
        return None
    return McpServer(item.title, url, secret, modes)
