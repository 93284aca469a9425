"""Anthropic's `messages` list to prompts and tool turns."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from orchestrator.stack.scripted.dialects.history import Answered, Call, Said, prompts
from orchestrator.stack.scripted.request import Request, Result

_OWN = re.compile(
    r"<system-reminder>.*?</system-reminder>|\[Request interrupted by user[^\]\n]*\]", re.DOTALL
)
"""What Claude Code adds on its own to what a person said."""


def request(data: Mapping[str, Any], *, size: int) -> Request:
    """Read a body that was decoded from JSON.

    Raises:
        KeyError, TypeError, ValueError, AttributeError: it is not a Messages request.
    """
    messages = data["messages"]
    return Request(
        model=str(data["model"]),
        stream=data.get("stream", False) is True,
        system="\n".join([_text(data.get("system", "")), *_system_messages(messages)]),
        prompts=prompts(_events(messages), _results(messages)),
        tools=frozenset(str(tool["name"]) for tool in data.get("tools") or ()),
        size=size,
    )


def _system_messages(messages: list[Mapping[str, Any]]) -> Iterator[str]:
    """Claude Code also puts messages with the role `system` among the others."""
    return (_text(message["content"]) for message in messages if message["role"] == "system")


def _events(messages: list[Mapping[str, Any]]) -> Iterator[Said | Answered]:
    for message in messages:
        if message["role"] == "assistant":
            calls = (block for block in _blocks(message["content"]) if block["type"] == "tool_use")
            yield Answered(tuple(Call(call["id"], call["name"]) for call in calls))
        elif message["role"] == "user":
            words = (_text([block]) for block in _blocks(message["content"]))
            yield from (Said(_OWN.sub("", text).strip()) for text in words)


def _results(messages: list[Mapping[str, Any]]) -> dict[str, Result]:
    return {
        block["tool_use_id"]: Result(_text(block.get("content", "")), bool(block.get("is_error")))
        for message in messages
        for block in _blocks(message["content"])
        if block["type"] == "tool_result"
    }


def _text(content: str | list[Mapping[str, Any]]) -> str:
    """The text blocks of a content, a line each; what is not text is named."""
    parts = (
        block["text"] if block["type"] == "text" else f"[{block['type']}]"
        for block in _blocks(content)
        if block["type"] not in {"tool_result", "tool_use"}
    )
    return "\n".join(parts)


def _blocks(content: str | list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content
