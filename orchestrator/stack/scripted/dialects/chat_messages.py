"""The `messages` of OpenAI's Chat Completions to prompts and tool turns."""

from collections.abc import Iterator, Mapping
from typing import Any

from orchestrator.stack.scripted.dialects.history import Answered, Call, Said, prompts
from orchestrator.stack.scripted.dialects.outcomes import outcome
from orchestrator.stack.scripted.request import Request, Result

type Message = Mapping[str, Any]

_SYSTEM_ROLES = frozenset({"developer", "system"})


def request(data: Mapping[str, Any], *, size: int) -> Request:
    """Read a body that was decoded from JSON.

    Raises:
        KeyError, TypeError, ValueError, AttributeError: it is not a Chat Completions request.
    """
    messages = data["messages"]
    options = data.get("stream_options") or {}
    return Request(
        model=str(data["model"]),
        stream=data.get("stream", False) is True,
        system="\n".join(
            _text(message["content"]) for message in messages if message["role"] in _SYSTEM_ROLES
        ),
        prompts=prompts(_events(messages), _results(messages)),
        tools=frozenset(
            str(tool["function"]["name"])
            for tool in data.get("tools") or ()
            if tool["type"] == "function"
        ),
        size=size,
        wants_usage=options.get("include_usage", False) is True,
    )


def _events(messages: list[Message]) -> Iterator[Said | Answered]:
    for message in messages:
        if message["role"] == "assistant":
            calls = message.get("tool_calls") or ()
            yield Answered(tuple(Call(call["id"], call["function"]["name"]) for call in calls))
        elif message["role"] == "user":
            yield Said(_text(message["content"]).strip())


def _results(messages: list[Message]) -> dict[str, Result]:
    return {
        message["tool_call_id"]: outcome(_text(message["content"]))
        for message in messages
        if message["role"] == "tool"
    }


def _text(content: str | list[Message]) -> str:
    """The texts of a content, a line each; what is not text is named."""
    if isinstance(content, str):
        return content
    return "\n".join(
        part["text"] if part["type"] == "text" else f"[{part['type']}]" for part in content
    )
