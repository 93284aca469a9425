"""A server with one of everything that MCP has, made with the SDK, on loopback, in a thread of its own.

The names are those that the public conformance suite calls.

- `content`, `forms`: what it answers with, and what it asks for.
- `telling`, `asking`, `wanting`: its tools.
- `server`: the server, with its resources and prompts.
"""

from tests.servers.everything.server import PROMPTS, TOOL_NAMES, everything, everything_over_sse

__all__ = ["PROMPTS", "TOOL_NAMES", "everything", "everything_over_sse"]
