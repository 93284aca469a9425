"""The server: its tools, and all that is no tool."""

import base64
import json
from collections.abc import Iterator
from contextlib import contextmanager

import mcp_types as types
from mcp.server import ServerRequestContext
from mcp.server.mcpserver import Context, MCPServer, RequestStateSecurity
from mcp.server.mcpserver.prompts.base import Prompt, UserMessage

from tests.servers.asgi import served
from tests.servers.everything.asking import ASKING
from tests.servers.everything.content import PNG, text
from tests.servers.everything.forms import form
from tests.servers.everything.telling import TELLING, WIDE
from tests.servers.everything.wanting import WANTING, said, wants

TOOLS = (*TELLING, *ASKING, *WANTING)
TOOL_NAMES = frozenset(
    {tool.__name__ for tool in TOOLS} | {"test_trigger_tool_change", "test_trigger_prompt_change"}
)
PROMPTS = frozenset(
    {
        "test_simple_prompt",
        "test_prompt_with_arguments",
        "test_prompt_with_embedded_resource",
        "test_prompt_with_image",
        "test_input_required_result_prompt",
    }
)


@contextmanager
def everything() -> Iterator[str]:
    """The server, on loopback; its URL."""
    with served(make_server().streamable_http_app(streamable_http_path="/mcp")) as url:
        yield url


@contextmanager
def everything_over_sse() -> Iterator[str]:
    """The same by legacy SSE; the URL of its stream."""
    with served(make_server().sse_app(), "/sse") as url:
        yield url


def make_server() -> MCPServer:
    """The server."""
    server = MCPServer(
        "everything", version="1", request_state_security=RequestStateSecurity(keys=[b"k" * 32])
    )
    for tool in TOOLS:
        server.add_tool(tool)
    server._tool_manager._tools["json_schema_2020_12_tool"].parameters = WIDE
    for add in (_changing, _reading, _prompting):
        add(server)
    _low(server)
    return server


def _changing(server: MCPServer) -> None:
    def fleeting() -> str:
        """Here for a moment."""
        return "here"

    @server.tool()
    async def test_trigger_tool_change(ctx: Context) -> str:
        """Trigger tool change."""
        server.add_tool(fleeting, name="test_dynamic_tool")
        server.remove_tool("test_dynamic_tool")
        await ctx.notify_tools_changed()
        return "changed"

    @server.tool()
    async def test_trigger_prompt_change(ctx: Context) -> str:
        """Trigger prompt change."""
        server.add_prompt(Prompt.from_function(fleeting, name="test_dynamic_prompt"))
        server.remove_prompt("test_dynamic_prompt")
        await ctx.notify_prompts_changed()
        return "changed"


def _reading(server: MCPServer) -> None:
    @server.resource("test://static-text")
    def static_text() -> str:
        return "This is the content of the static text resource."

    @server.resource("test://static-binary", mime_type="image/png")
    def static_binary() -> bytes:
        return base64.b64decode(PNG)

    @server.resource("test://template/{id}/data")
    def template(id: str) -> str:  # noqa: A002
        return json.dumps({"id": id, "data": f"Data for ID: {id}"})

    @server.resource("test://watched-resource")
    def watched() -> str:
        return "watched"


def _prompting(server: MCPServer) -> None:
    @server.prompt(description="A simple prompt.")
    def test_simple_prompt() -> list[UserMessage]:
        """Simple prompt."""
        return [UserMessage(text("This is a simple prompt for testing."))]

    @server.prompt(description="A prompt with arguments.")
    def test_prompt_with_arguments(arg1: str, arg2: str) -> list[UserMessage]:
        """Prompt with arguments."""
        return [UserMessage(text(f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"))]

    @server.prompt(description="A prompt that holds a resource.")
    def test_prompt_with_embedded_resource(resourceUri: str) -> list[UserMessage]:  # noqa: N803
        resource = types.TextResourceContents(uri=resourceUri, mime_type="text/plain", text="It.")
        embedded = types.EmbeddedResource(type="resource", resource=resource)
        return [UserMessage(embedded), UserMessage(text("Look at it."))]

    @server.prompt(description="A prompt that holds an image.")
    def test_prompt_with_image() -> list[UserMessage]:
        """Prompt with image."""
        image = types.ImageContent(type="image", data=PNG, mime_type="image/png")
        return [UserMessage(image), UserMessage(text("Look at it."))]

    @server.prompt(description="A prompt that asks back.")
    async def test_input_required_result_prompt(
        ctx: Context,
    ) -> list[UserMessage] | types.InputRequiredResult:
        """Input required result prompt."""
        answers = ctx.input_responses or {}
        if "user_context" in answers:
            return [
                UserMessage(text(f"In the context of {said(answers['user_context'], 'context')}"))
            ]
        schema = {"type": "object", "properties": {"context": {"type": "string"}}}
        return wants({"user_context": form("In which context?", schema)})

    @server.completion()  # type: ignore[no-untyped-call, untyped-decorator]
    async def complete(_: object, __: object, ___: object) -> types.Completion:
        return types.Completion(values=["one", "two"], total=2, has_more=False)


def _low(server: MCPServer) -> None:
    """What the SDK's decorators have no words for."""

    async def nothing(_: ServerRequestContext, __: object) -> types.EmptyResult:
        return types.EmptyResult()

    for method, params in {
        "logging/setLevel": types.SetLevelRequestParams,
        "resources/subscribe": types.SubscribeRequestParams,
        "resources/unsubscribe": types.UnsubscribeRequestParams,
    }.items():
        server._lowlevel_server.add_request_handler(method, params, nothing)
