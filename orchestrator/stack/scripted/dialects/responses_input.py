"""The `input` of OpenAI's Responses to prompts and tool turns, Codex's own items included."""

import itertools
import json
import re
from collections.abc import Iterator, Mapping
from operator import itemgetter
from typing import Any

from orchestrator.stack.scripted import ids
from orchestrator.stack.scripted.dialects.history import Answered, Call, Said, prompts
from orchestrator.stack.scripted.dialects.outcomes import outcome
from orchestrator.stack.scripted.request import Form, Kind, Request, Result

type Item = Mapping[str, Any]

_CALLS = frozenset({"function_call", "custom_tool_call", "tool_search_call"})
_OUTPUTS = frozenset({"function_call_output", "custom_tool_call_output", "tool_search_output"})
_TEXTS = frozenset({"input_text", "output_text", "text"})
_SYSTEM_ROLES = frozenset({"developer", "system"})
_TOOL_LISTS = frozenset({"tool_search_output", "additional_tools"})
_SEARCH = "tool_search"
_OWN_TAGS = (
    "environment_context|user_instructions|user_shell_command|turn_aborted|skill|hook_prompt"
    "|subagent_notification|goal_context|internal_model_context|system-reminder"
)
_OWN = re.compile(
    rf"\s*(?:<({_OWN_TAGS})\b.*</\1>|# AGENTS\.md instructions.*</INSTRUCTIONS>)\s*", re.DOTALL
)
"""What Codex says on its own in the user's name, each in a part of its own."""


def request(data: Mapping[str, Any], *, size: int) -> Request:
    """Read a body that was decoded from JSON.

    Raises:
        KeyError, TypeError, ValueError, AttributeError: it is not a Responses request.
    """
    if data.get("previous_response_id"):
        raise ValueError("previous_response_id: nothing is kept here, send the whole input")
    given = data["input"]
    items = [{"role": "user", "content": given}] if isinstance(given, str) else list(given)
    forms = {name: form for tool in _declared(data, items) for name, form in _forms(tool)}
    return Request(
        model=str(data["model"]),
        stream=data.get("stream", False) is True,
        system="\n".join([data.get("instructions") or "", *_system(items)]),
        prompts=prompts(_events(items), _results(items)),
        tools=frozenset(forms),
        size=size,
        forms=forms,
    )


def _declared(data: Mapping[str, Any], items: list[Item]) -> Iterator[Item]:
    yield from data.get("tools") or ()
    for item in items:
        if item.get("type") in _TOOL_LISTS:
            yield from item.get("tools") or ()


def _forms(tool: Item) -> Iterator[tuple[str, Form]]:
    """A declared tool (or all of a namespace) by the name it has in other harnesses."""
    match tool["type"]:
        case "function":
            yield tool["name"], Form(tool["name"])
        case "custom":
            yield tool["name"], Form(tool["name"], "text")
        case "tool_search":
            yield _SEARCH, Form(_SEARCH, "search")
        case "namespace":
            for inner in tool["tools"]:
                kind: Kind = "text" if inner.get("type") == "custom" else "function"
                yield _full(tool["name"], inner["name"]), Form(inner["name"], kind, tool["name"])
        case _:  # the provider's own, which no scenario calls
            pass


def _full(namespace: str | None, name: str) -> str:
    return f"{namespace.rstrip('_')}__{name}" if namespace else name


def _events(items: list[Item]) -> Iterator[Said | Answered]:
    for (is_call, _), group in itertools.groupby(_keyed(items), key=itemgetter(0)):
        if is_call:
            yield Answered(tuple(Call(item["call_id"], _called(item)) for _, item in group))
        else:
            yield from (_spoken(item) for _, item in group)


def _keyed(items: list[Item]) -> Iterator[tuple[tuple[bool, str], Item]]:
    """Words and calls, each with a key that calls of one answer share: their ids say it where they
    are ours (`playing` makes them), else that nothing came back between them."""
    outputs = 0
    for item in items:
        kind = item.get("type", "message")
        if kind in _CALLS:
            yield (True, ids.answer_of(item["call_id"]) or str(outputs)), item
        elif kind in _OUTPUTS:
            outputs += 1
        elif kind == "message" and item["role"] not in _SYSTEM_ROLES:
            yield (False, ""), item


def _called(item: Item) -> str:
    return (
        _SEARCH
        if item["type"] == "tool_search_call"
        else _full(item.get("namespace"), item["name"])
    )


def _spoken(item: Item) -> Said | Answered:
    if item["role"] != "user":
        return Answered()
    said = [part for part in _parts(item["content"]) if not _OWN.fullmatch(part)]
    return Said("\n".join(said).strip())


def _system(items: list[Item]) -> Iterator[str]:
    """Developers' messages, and what Codex says on its own."""
    for item in items:
        if item.get("type", "message") == "message":
            parts = list(_parts(item["content"]))
            if item["role"] in _SYSTEM_ROLES:
                yield from parts
            elif item["role"] == "user":
                yield from (part for part in parts if _OWN.fullmatch(part))


def _results(items: list[Item]) -> dict[str, Result]:
    return {item["call_id"]: _result(item) for item in items if item.get("type") in _OUTPUTS}


def _result(item: Item) -> Result:
    if item["type"] == "tool_search_output":
        return Result(json.dumps(item.get("tools") or []))
    return outcome("\n".join(_parts(item["output"])))


def _parts(content: str | list[Item]) -> Iterator[str]:
    """The texts of a content; what is not text is named."""
    if isinstance(content, str):
        yield content
        return
    for part in content:
        yield part["text"] if part["type"] in _TEXTS else f"[{part['type']}]"
