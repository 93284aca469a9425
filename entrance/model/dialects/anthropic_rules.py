"""What a Messages request may not ask for, so that the provider is no second door [pure].

Nothing that the provider would fetch, run, look up or keep for the run: web search, URLs, remote
MCP servers, code execution, stored files and conversations. No other model than the one that was
judged. Nothing that is billed at another price than the list has. What is not named here is
refused: a new key of the API is let through by adding it to a table, with a thought about it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from entrance.model.dialects.reading import part, parts
from entrance.model.dialects.rules import key_troubles

PLAIN_KEYS = frozenset(
    {
        "cache_control",
        "compaction",
        "context_management",
        "diagnostics",
        "max_tokens",
        "messages",
        "metadata",
        "model",
        "output_config",
        "output_format",
        "prefill",
        "stop_sequences",
        "stream",
        "system",
        "temperature",
        "thinking",
        "tool_choice",
        "tools",
        "top_k",
        "top_p",
    }
)
"""Keys that shape the answer and nothing else."""

PLAIN_VALUES: Mapping[str, frozenset[Any]] = {
    "inference_geo": frozenset({"global"}),
    "service_tier": frozenset({"auto", "standard_only"}),
    "speed": frozenset({"standard"}),
}
"""Keys that can change the price, with the values that don't."""

LOCAL_TOOLS = ("custom", "bash_", "text_editor_", "computer_", "memory_", "tool_search_tool_")
"""How the types of tools begin that the client runs, or that search the request's own tools."""

INLINE_SOURCES = frozenset({"base64", "text", "content"})


def troubles(asked: Mapping[str, Any], blocks: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Why a request is not let through: sentences that its sender can act on; none if it is.

    `blocks`: what `all_blocks` finds in it.
    """
    yield from key_troubles(asked, PLAIN_KEYS, PLAIN_VALUES)
    for tool in parts(asked.get("tools")):
        yield from _tool_troubles(tool)
    for block in blocks:
        source = block.get("source")
        if isinstance(source, dict) and source.get("type") not in INLINE_SOURCES:
            kind = source.get("type")
            yield f"a source of type {kind!s:.20} is not let through: send the content itself"
        if "file_id" in block:
            yield "stored files are not let through: send the content itself"
        if block.get("type") == "tool_addition":
            yield from _tool_troubles(_definition(block))


def images(blocks: Iterable[Mapping[str, Any]]) -> list[int]:
    """The lengths of a request's pictures, in bytes of its body."""
    sources = [part(block, "source") for block in blocks if block.get("type") == "image"]
    return [len(data) for source in sources if isinstance(data := source.get("data"), str)]


def all_blocks(asked: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Every message and content block of a request, in results and documents too, however deep.

    Not in the inputs of tool calls: those are the agent's own data. A conversation has thousands.
    """
    found: list[Mapping[str, Any]] = []
    left = [asked.get("messages"), asked.get("system")]
    while left:
        for item in parts(left.pop()):
            found.append(item)
            if isinstance(inside := item.get("content"), list):
                left.append(inside)
            if "source" in item:
                left.append(part(item, "source").get("content"))
    return found


def _tool_troubles(tool: Mapping[str, Any]) -> Iterator[str]:
    kind = tool.get("type") or "custom"
    if not isinstance(kind, str) or not kind.startswith(LOCAL_TOOLS):
        yield f"the tool type {kind!s:.60} is not let through: it runs at the provider"


def _definition(addition: Mapping[str, Any]) -> Mapping[str, Any]:
    """The tool that a `tool_addition` brings along; a harmless one when it only refers to one."""
    return part(addition.get("tool"), "definition")
