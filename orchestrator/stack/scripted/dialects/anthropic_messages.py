"""Anthropic's `messages` list to prompts and tool turns."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from orchestrator.stack.scripted.request import Prompt, Request, Result, ToolTurn

_REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>", re.DOTALL)
"""What Claude Code adds on its own to what a person said."""


def request(data: Mapping[str, Any], *, size: int) -> Request:
    """Read a body that was decoded from JSON.

    Raises:
        KeyError, TypeError, ValueError, AttributeError: it is not a Messages request.
    """
    messages = data["messages"]
    prompts = _prompts(messages)
    if not prompts:
        raise ValueError("no user message with text")
    return Request(
        model=str(data["model"]),
        stream=data.get("stream", False) is True,
        system="\n".join([_text(data.get("system", "")), *_system_messages(messages)]),
        prompts=prompts,
        tools=frozenset(str(tool["name"]) for tool in data.get("tools") or ()),
        size=size,
    )


def _system_messages(messages: list[Mapping[str, Any]]) -> Iterator[str]:
    """Claude Code also puts messages with the role `system` among the others."""
    return (_text(message["content"]) for message in messages if message["role"] == "system")


def _prompts(messages: list[Mapping[str, Any]]) -> tuple[Prompt, ...]:
    """Words of the user start a prompt, unless they only go on with the one just begun."""
    results = _results(messages)
    prompts: list[Prompt] = []
    answered = True
    for message in messages:
        if message["role"] == "assistant":
            answered = True
            if (turn := _tool_turn(message, results)) and prompts:
                prompts[-1] = Prompt(prompts[-1].text, (*prompts[-1].turns, turn))
        elif message["role"] == "user" and (text := _said(message)):
            if answered:
                prompts.append(Prompt(text))
            else:
                prompts[-1] = Prompt(f"{prompts[-1].text}\n{text}", prompts[-1].turns)
            answered = False
    return tuple(prompts)


def _results(messages: list[Mapping[str, Any]]) -> dict[str, Result]:
    return {
        block["tool_use_id"]: Result(_text(block.get("content", "")), bool(block.get("is_error")))
        for message in messages
        for block in _blocks(message["content"])
        if block["type"] == "tool_result"
    }


def _tool_turn(message: Mapping[str, Any], results: Mapping[str, Result]) -> ToolTurn | None:
    calls = [block for block in _blocks(message["content"]) if block["type"] == "tool_use"]
    if not calls:
        return None
    return ToolTurn(
        names=tuple(call["name"] for call in calls),
        results=tuple(results.get(call["id"]) for call in calls),
    )


def _said(message: Mapping[str, Any]) -> str:
    return _REMINDER.sub("", _text(message["content"])).strip()


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
