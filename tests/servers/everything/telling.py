"""Tools that answer by themselves, some of them in the course of time."""

import asyncio
from typing import Annotated, Any

import mcp_types as types
from mcp.server.mcpserver import Context
from pydantic import Field

from tests.servers.everything.content import PICTURE, SOUND, embedded, text

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
"""A schema of the newest words of JSON Schema, which the SDK can't make of a function."""


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


TELLING = (
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
)
