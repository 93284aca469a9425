"""What the door needs from whoever runs it. Each port belongs to its user; what it raises is said.

- `sessions`: whose token and whose address it is, and what a run is doing.
- `tools`: tools, of our own and as servers list them.
- `servers`: MCP servers of others, and the sandboxes of those that are run here.
- `calls`: tool calls that people decide about, one by one or for good.
- `alarm`: what happens when a honeytoken is touched.
- `spending`: what model calls cost, added up.
- `pushes`: pushes that people decide about, and those that were let out.
"""

from entrance.ports.alarm import Alarm, Touched
from entrance.ports.calls import CallInbox, HeldCall, StandingCalls
from entrance.ports.pushes import AcceptedPush, HeldPush, Moved, PushInbox, Witness
from entrance.ports.servers import McpServer, Place, ServerSandboxes, Stdio, Transport
from entrance.ports.sessions import Addresses, Cause, Causes, Sessions
from entrance.ports.spending import Meter, Usage
from entrance.ports.tools import (
    Pinned,
    Pins,
    Remembers,
    ResultFiles,
    TellsFacts,
    Tool,
    ToolProvider,
    ToolResult,
)

__all__ = [
    "AcceptedPush",
    "Addresses",
    "Alarm",
    "CallInbox",
    "Cause",
    "Causes",
    "HeldCall",
    "HeldPush",
    "McpServer",
    "Meter",
    "Moved",
    "Pinned",
    "Pins",
    "Place",
    "PushInbox",
    "Remembers",
    "ResultFiles",
    "ServerSandboxes",
    "Sessions",
    "StandingCalls",
    "Stdio",
    "TellsFacts",
    "Tool",
    "ToolProvider",
    "ToolResult",
    "Touched",
    "Transport",
    "Usage",
    "Witness",
]
