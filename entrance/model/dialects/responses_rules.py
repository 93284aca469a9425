"""What a Responses request may not ask for, so that the provider is no second door [pure].

No tool that runs at the provider, nothing that it would fetch, nothing that it keeps: background
answers, stored answers, conversations, prompts and files.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from entrance.model.dialects.openai import SHARED_KEYS, SHARED_VALUES, tool_troubles
from entrance.model.dialects.reading import part, parts
from entrance.model.dialects.rules import (
    key_troubles,
    kind_troubles,
    link_troubles,
    picture_bytes,
)

PLAIN_KEYS = SHARED_KEYS | {
    "client_metadata",
    "context_management",
    "include",
    "input",
    "instructions",
    "max_output_tokens",
    "max_tool_calls",
    "reasoning",
    "text",
    "truncation",
}
PLAIN_VALUES: Mapping[str, frozenset[Any]] = {**SHARED_VALUES, "background": frozenset({False})}
REASONING_KEYS = frozenset({"context", "effort", "generate_summary", "summary"})
REASONING_VALUES: Mapping[str, frozenset[Any]] = {"mode": frozenset({"standard"})}
INCLUDED = frozenset(
    {"message.input_image.image_url", "message.output_text.logprobs", "reasoning.encrypted_content"}
)
"""What may be asked for besides, all of it out of the request or the answer."""

LOCAL_TOOLS = frozenset(
    {"apply_patch", "custom", "function", "local_shell", "namespace", "shell", "tool_search"}
)
"""Tools that the client runs, and the search among the request's own."""

ITEMS = frozenset(
    {
        "additional_tools",
        "agent_message",
        "apply_patch_call",
        "apply_patch_call_output",
        "compaction",
        "compaction_trigger",
        "custom_tool_call",
        "custom_tool_call_output",
        "function_call",
        "function_call_output",
        "local_shell_call",
        "local_shell_call_output",
        "message",
        "reasoning",
        "shell_call",
        "shell_call_output",
        "tool_search_call",
        "tool_search_output",
    }
)
PARTS = frozenset(
    {
        "encrypted_content",
        "input_file",
        "input_image",
        "input_text",
        "output_text",
        "reasoning_text",
        "refusal",
        "summary_text",
        "text",
    }
)
LINKS = ("image_url", "file_url", "file_id")


def troubles(asked: Mapping[str, Any]) -> Iterator[str]:
    """Why a request is not let through: sentences that its sender can act on; none if it is."""
    yield from key_troubles(asked, PLAIN_KEYS, PLAIN_VALUES)
    reasoning = part(asked, "reasoning")
    yield from key_troubles(reasoning, REASONING_KEYS, REASONING_VALUES, "reasoning.")
    include = asked.get("include")
    for wanted in include if isinstance(include, list) else ():
        if wanted not in INCLUDED:
            yield f"`include` of {wanted!s:.60} is not let through"
    yield from tool_troubles(asked.get("tools"), LOCAL_TOOLS)
    for item in parts(asked.get("input")):
        yield from _item_troubles(item)


def pictures(asked: Mapping[str, Any]) -> list[int]:
    """The lengths of a request's pictures, in bytes of its body."""
    links = [
        piece["image_url"]
        for item in parts(asked.get("input"))
        for piece in _pieces(item)
        if "image_url" in piece
    ]
    return [size for size in map(picture_bytes, links) if size]


def _item_troubles(item: Mapping[str, Any]) -> Iterator[str]:
    if item.get("type") is not None:
        yield from kind_troubles(item, ITEMS, "item")
    if "environment" in item and part(item, "environment").get("type") not in {None, "local"}:
        yield "`environment` may only be local here: anything else runs at the provider"
    if "tools" in item:
        yield from tool_troubles(item["tools"], LOCAL_TOOLS)
    for piece in _pieces(item):
        if piece.get("type") is not None:
            yield from kind_troubles(piece, PARTS, "content")
        yield from link_troubles(piece, LINKS)


def _pieces(item: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """The parts of a message, of a tool's result, of a summary."""
    found: list[Mapping[str, Any]] = []
    for key in ("content", "output", "summary"):
        held = item.get(key)
        if isinstance(held, list):
            found += parts(held)
        elif isinstance(held, dict):
            found.append(held)
    return found
