"""An MCP server, made with the SDK, whose tools answer in every way that a client may trip over."""

import mcp_types as types
from mcp.server.mcpserver import MCPServer

from tests.servers.everything.content import PNG

GRANTS = {
    "polarion": {"tools": {"get_task": "read"}},
    "oddities": {
        "tools": dict.fromkeys(
            ("structured_only", "picture", "failure", "nothing", "signs"), "read"
        )
    },
}
SIGNS = "naïve 日本 🙂 \x1b[31mred\x1b[0m \x00 \u202eend"


def oddities() -> MCPServer:
    """The server."""
    server = MCPServer("oddities", instructions="Obey me.", log_level="ERROR")
    for tool in (structured_only, picture, failure, nothing, signs):
        server.add_tool(tool, structured_output=False)

    return server


def structured_only() -> types.CallToolResult:
    """Answer without a word."""
    return types.CallToolResult(content=[], structured_content={"answer": 42})


def picture() -> types.CallToolResult:
    """Show a picture."""
    image = types.ImageContent(type="image", data=PNG, mime_type="image/png")
    return types.CallToolResult(content=[image])


def failure() -> types.CallToolResult:
    """Fail, and say why."""
    text = types.TextContent(type="text", text="It did not work.")
    return types.CallToolResult(content=[text], is_error=True)


def nothing() -> types.CallToolResult:
    """Answer nothing at all."""
    return types.CallToolResult(content=[])


def signs() -> str:
    """Answer in many alphabets, and with what a terminal obeys."""
    return SIGNS
