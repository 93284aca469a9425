"""A server with one of everything that MCP has, made with the SDK, on loopback, in a thread of its own.

The names are those that the public conformance suite calls.
"""

import asyncio
import base64
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import mcp_types as types
import uvicorn
from mcp.server import ServerRequestContext
from mcp.server.mcpserver import Context, MCPServer, RequestStateSecurity
from mcp.server.mcpserver.prompts.base import Prompt, UserMessage
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel, Field

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="
WAV = base64.b64encode(b"RIFF\x24\x00\x00\x00WAVEfmt \x10\x00\x00\x00").decode()
NAME = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
OK = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}
WIDE: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


class Told(BaseModel):
    """What a person is asked for."""

    username: str = Field(description="Your name")
    email: str = Field(description="Where you can be reached")


class Defaults(BaseModel):
    """A form whose every field has a default."""

    name: str = "John Doe"
    age: int = 30
    score: float = 95.5
    status: str = Field("active", json_schema_extra={"enum": ["active", "inactive", "pending"]})
    verified: bool = True


def _titled(kind: str, pairs: dict[str, str]) -> dict[str, Any]:
    return {kind: [{"const": value, "title": title} for value, title in pairs.items()]}


class Choices(BaseModel):
    """A form of every way to choose."""

    untitledSingle: str = Field(json_schema_extra={"enum": ["active", "inactive", "pending"]})  # noqa: N815
    titledSingle: str = Field(  # noqa: N815
        json_schema_extra=_titled("oneOf", {"low": "Low", "medium": "Medium", "high": "High"})
    )
    untitledMulti: list[str] = Field(  # noqa: N815
        json_schema_extra={"items": {"type": "string", "enum": ["read", "write", "execute"]}}
    )
    titledMulti: list[str] = Field(  # noqa: N815
        json_schema_extra={
            "items": _titled("anyOf", {"feature": "Feature", "bug": "Bug", "docs": "Docs"})
        }
    )
    legacyEnum: str = Field(  # noqa: N815
        json_schema_extra={
            "enum": ["small", "medium", "large"],
            "enumNames": ["Small Size", "Medium Size", "Large Size"],
        }
    )


def text(words: str) -> types.TextContent:
    return types.TextContent(type="text", text=words)


def form(message: str, schema: dict[str, Any]) -> types.ElicitRequest:
    params = types.ElicitRequestFormParams(message=message, requested_schema=schema)
    return types.ElicitRequest(params=params)


def sample(words: str) -> types.CreateMessageRequest:
    messages = [types.SamplingMessage(role="user", content=text(words))]
    params = types.CreateMessageRequestParams(messages=messages, max_tokens=50)
    return types.CreateMessageRequest(params=params)


def wants(requests: dict[str, Any], state: str | None = None) -> types.InputRequiredResult:
    return types.InputRequiredResult(input_requests=requests, request_state=state)


def said(answer: Any, key: str) -> str:
    content = getattr(answer, "content", None)
    return str(content.get(key)) if isinstance(content, dict) else "?"


PROMPTS = frozenset(
    {
        "test_simple_prompt",
        "test_prompt_with_arguments",
        "test_prompt_with_embedded_resource",
        "test_prompt_with_image",
        "test_input_required_result_prompt",
    }
)


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


PICTURE = types.ImageContent(type="image", data=PNG, mime_type="image/png")
SOUND = types.AudioContent(type="audio", data=WAV, mime_type="audio/wav")


def embedded(uri: str, kind: str, words: str) -> types.EmbeddedResource:
    resource = types.TextResourceContents(uri=uri, mime_type=kind, text=words)
    return types.EmbeddedResource(type="resource", resource=resource)


def test_simple_text() -> str:
    """Simple text."""
    return "This is a simple text response for testing."


def test_image_content() -> list[types.ImageContent]:
    """Image content."""
    return [PICTURE]


def test_audio_content() -> list[types.AudioContent]:
    """Audio content."""
    return [SOUND]


def test_embedded_resource() -> list[types.EmbeddedResource]:
    """Embedded resource."""
    return [embedded("test://embedded-resource", "text/plain", "An embedded resource.")]


def test_multiple_content_types() -> list[
    types.TextContent | types.ImageContent | types.EmbeddedResource
]:
    """Multiple content types."""
    mixed = embedded("test://mixed-content-resource", "application/json", '{"value": 123}')
    return [text("Several kinds:"), PICTURE, mixed]


def test_error_handling() -> str:
    """Error handling."""
    raise RuntimeError("This tool intentionally returns an error for testing")


def test_x_mcp_header(
    region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})] = "none",  # noqa: PT028 - a tool
) -> str:
    """An argument that a header repeats."""
    return f"region={region}"


def json_schema_2020_12_tool() -> str:
    """Json schema 2020 12 tool."""
    return "wide"


async def test_tool_with_logging(ctx: Context) -> str:
    """Tool with logging."""
    for words in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await ctx.info(words)
        await asyncio.sleep(0.05)
    return "logged"


async def test_tool_with_progress(ctx: Context) -> str:
    """Tool with progress."""
    for done in (0, 50, 100):
        await ctx.report_progress(done, 100, f"Completed step {done} of 100")
        await asyncio.sleep(0.05)
    return "progressed"


async def test_sampling(prompt: str, ctx: Context) -> str:
    """Sampling."""
    result = await ctx.session.create_message(
        [types.SamplingMessage(role="user", content=text(prompt))],
        max_tokens=100,
        related_request_id=ctx.request_id,
    )
    return f"LLM response: {getattr(result.content, 'text', 'none')}"


async def asked(ctx: Context, message: str, schema: type[BaseModel]) -> str:
    result = await ctx.elicit(message=message, schema=schema)
    content = result.data.model_dump_json() if result.action == "accept" else "{}"
    return f"action={result.action}, content={content}"


async def test_elicitation(message: str, ctx: Context) -> str:
    """Elicitation."""
    return f"User response: {await asked(ctx, message, Told)}"


async def test_elicitation_sep1034_defaults(ctx: Context) -> str:
    """Elicitation sep1034 defaults."""
    return f"Elicitation completed: {await asked(ctx, 'Who are you?', Defaults)}"


async def test_elicitation_sep1330_enums(ctx: Context) -> str:
    """Elicitation sep1330 enums."""
    return f"Elicitation completed: {await asked(ctx, 'Choose', Choices)}"


async def test_missing_capability(ctx: Context) -> str:
    """Missing capability."""
    can = ctx.session.client_capabilities
    if can is None or can.sampling is None:
        raise MCPError(
            code=types.MISSING_REQUIRED_CLIENT_CAPABILITY,
            message="This tool needs sampling",
            data={"requiredCapabilities": {"sampling": {}}},
        )
    return "The client can sample."


Input = str | types.InputRequiredResult


async def test_input_required_result_elicitation(ctx: Context) -> Input:
    """Input required result elicitation."""
    answers = ctx.input_responses or {}
    if "user_name" in answers:
        return f"Hello, {said(answers['user_name'], 'name')}!"
    return wants({"user_name": form("What is your name?", NAME)})


async def test_input_required_result_sampling(ctx: Context) -> Input:
    """Input required result sampling."""
    answers = ctx.input_responses or {}
    if "capital_question" in answers:
        content = getattr(answers["capital_question"], "content", None)
        return f"Model said: {getattr(content, 'text', '?')}"
    return wants({"capital_question": sample("What is the capital of France?")})


async def test_input_required_result_list_roots(ctx: Context) -> Input:
    """Input required result list roots."""
    answers = ctx.input_responses or {}
    if "client_roots" in answers:
        return f"{len(getattr(answers['client_roots'], 'roots', ()))} roots"
    return wants({"client_roots": types.ListRootsRequest()})


async def test_input_required_result_request_state(ctx: Context) -> Input:
    """Input required result request state."""
    if "confirm" in (ctx.input_responses or {}) and ctx.request_state == "nonce":
        return "state-ok: it was confirmed"
    return wants({"confirm": form("Please confirm", OK)}, "nonce")


async def test_input_required_result_multiple_inputs(ctx: Context) -> Input:
    """Input required result multiple inputs."""
    requests = {
        "user_name": form("What is your name?", NAME),
        "greeting": sample("Say hello"),
        "client_roots": types.ListRootsRequest(),
    }
    if requests.keys() <= (ctx.input_responses or {}).keys():
        return "All inputs received."
    return wants(requests, "several")


async def test_input_required_result_multi_round(ctx: Context) -> Input:
    """Input required result multi round."""
    state = json.loads(ctx.request_state or "{}")
    answers = ctx.input_responses or {}
    if state.get("round") == 2 and "step2" in answers:
        return f"{state['name']} likes {said(answers['step2'], 'color')}."
    if state.get("round") == 1 and "step1" in answers:
        schema = {"type": "object", "properties": {"color": {"type": "string"}}}
        kept = json.dumps({"round": 2, "name": said(answers["step1"], "name")})
        return wants({"step2": form("Step 2: which colour?", schema)}, kept)
    return wants({"step1": form("Step 1: what is your name?", NAME)}, '{"round": 1}')


async def test_input_required_result_tampered_state(ctx: Context) -> Input:
    """Input required result tampered state."""
    if ctx.request_state is None:
        return wants({"confirm": form("Please confirm", OK)}, "round-1")
    return f"state-ok: {ctx.request_state}"


async def test_input_required_result_capabilities(ctx: Context) -> types.InputRequiredResult:
    """Input required result capabilities."""
    can = ctx.client_capabilities
    requests: dict[str, Any] = {}
    if can is None or can.sampling is not None:
        requests["sample"] = sample("Say hello")
    if can is None or can.elicitation is not None:
        requests["ask"] = form("What is your name?", NAME)
    return wants(requests, "by what the client can")


TOOLS = (
    test_simple_text,
    test_image_content,
    test_audio_content,
    test_embedded_resource,
    test_multiple_content_types,
    test_error_handling,
    test_x_mcp_header,
    json_schema_2020_12_tool,
    test_tool_with_logging,
    test_tool_with_progress,
    test_sampling,
    test_elicitation,
    test_elicitation_sep1034_defaults,
    test_elicitation_sep1330_enums,
    test_missing_capability,
    test_input_required_result_elicitation,
    test_input_required_result_sampling,
    test_input_required_result_list_roots,
    test_input_required_result_request_state,
    test_input_required_result_multiple_inputs,
    test_input_required_result_multi_round,
    test_input_required_result_tampered_state,
    test_input_required_result_capabilities,
)


TOOL_NAMES = frozenset(
    {tool.__name__ for tool in TOOLS} | {"test_trigger_tool_change", "test_trigger_prompt_change"}
)


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


@contextmanager
def served(app: Any) -> Iterator[str]:
    """An ASGI application, on loopback until the block ends; its URL."""
    config = uvicorn.Config(app, host="127.0.0.1", port=0, log_level="error", ws="none")
    running = uvicorn.Server(config)
    thread = threading.Thread(target=running.run)
    thread.start()
    deadline = time.monotonic() + 30
    while not running.started and time.monotonic() < deadline:
        time.sleep(0.02)
    try:
        yield f"http://127.0.0.1:{running.servers[0].sockets[0].getsockname()[1]}/mcp"
    finally:
        running.should_exit = running.force_exit = True
        thread.join(20)


@contextmanager
def everything() -> Iterator[str]:
    """The server, on loopback; its URL."""
    with served(make_server().streamable_http_app(streamable_http_path="/mcp")) as url:
        yield url
