"""The transports by name, and what each is made of."""

from collections.abc import Callable

from entrance.mcp.upstream.channel import OverChannel
from entrance.mcp.upstream.endpoint import Endpoint
from entrance.mcp.upstream.server import Reached
from entrance.mcp.upstream.sse import over_sse
from entrance.mcp.upstream.streamable import StreamableHttp
from entrance.ports import McpServer


def reached(server: McpServer, endpoint_of: Callable[[McpServer], Endpoint]) -> Reached:
    """How a server is reached by the transport that its connection names."""
    endpoint = endpoint_of(server)
    match server.transport:
        case "http":
            return Reached(server.name, lambda: StreamableHttp(endpoint), modern=endpoint)
        case "sse":
            opening = over_sse(endpoint)
            return Reached(server.name, lambda: OverChannel(server.name, opening))
