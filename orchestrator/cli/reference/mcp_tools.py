"""`docs/reference/mcp-tools.md`, from the toolbox that the gateway offers [pure]."""

from collections.abc import Iterator, Mapping
from typing import Any

from entrance.ports import Tool
from orchestrator.adapters.polarion.toolbox import TOOLS
from orchestrator.cli.reference.markdown import code, page, table

INTRO = """\
The tools of the connection `polarion`: what an agent may do in Polarion, as its own bot user.
They are served at `/mcp` of the [entrance](http-api.md#the-entrance), in every version of the protocol
from 2024-11-05 to 2026-07-28;
harnesses show them to the model as `mcp__sandgate__<tool>`.
An agent sees the tools that its engagement grants, and no others.
Arguments are checked against the schema before anything is done:
one that is unknown, missing or too long is refused with the reason."""
LIMITS = {
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minimum": "at least {}",
    "maximum": "at most {}",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
}


def mcp_tools() -> str:
    """The page."""
    return page("MCP tools", INTRO, *(part for tool in TOOLS for part in _told(tool)))


def _told(tool: Tool) -> Iterator[str]:
    yield f"## {tool.name}"
    yield tool.description + (" Changes nothing." if tool.read_only else "")
    required = tool.input_schema["required"]
    arguments = [
        (code(name), _type(schema), "yes" if name in required else "no", _meaning(schema))
        for name, schema in tool.input_schema["properties"].items()
    ]
    yield table(("argument", "type", "required", "meaning"), arguments) or "No arguments."


def _type(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return " or ".join(code(one) for one in schema["enum"])
    if schema["type"] == "array":
        return f"list of {schema['items']['type']}"
    return str(schema["type"])


def _meaning(schema: Mapping[str, Any]) -> str:
    limits = [words.format(schema[key]) for key, words in LIMITS.items() if schema.get(key, 1) != 1]
    sentence = f"{', '.join(limits)}." if limits else ""
    return f"{schema.get('description', '')} {sentence[:1].upper()}{sentence[1:]}".strip()
