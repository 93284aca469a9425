"""Gemini's `contents` to prompts and tool turns."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from orchestrator.stack.scripted.dialects.history import Answered, Call, Said, prompts
from orchestrator.stack.scripted.dialects.outcomes import outcome
from orchestrator.stack.scripted.request import Request, Result

type Part = Mapping[str, Any]

_ERROR = "error"
_TEXT_KEYS = ("output", "result", "content")
"""Where harnesses put a tool's text in its response, which is an object."""


def request(data: Mapping[str, Any], *, model: str, stream: bool, size: int) -> Request:
    """Read a body that was decoded from JSON. Keys may be in camel or in snake case.

    Raises:
        KeyError, TypeError, ValueError, AttributeError: it is not a generateContent request.
    """
    contents = data["contents"]
    system = _get(data, "systemInstruction", "system_instruction") or {}
    events, results = _history(contents)
    return Request(
        model=model,
        stream=stream,
        system=_text(system.get("parts") or ()),
        prompts=prompts(events, results),
        tools=frozenset(_tool_names(data.get("tools") or ())),
        size=size,
    )


def _get(data: Mapping[str, Any], *names: str) -> Any:
    return next((data[name] for name in names if name in data), None)


def _tool_names(tools: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for tool in tools:
        for function in _get(tool, "functionDeclarations", "function_declarations") or ():
            yield str(function["name"])


def _history(
    contents: list[Mapping[str, Any]],
) -> tuple[list[Said | Answered], dict[str, Result]]:
    """What was said, and what came back. A response without an id is of the oldest call of its name
    that has none yet."""
    events: list[Said | Answered] = []
    results: dict[str, Result] = {}
    open_calls: defaultdict[str, list[str]] = defaultdict(list)
    for number, content in enumerate(contents):
        parts = content.get("parts") or ()
        if content.get("role") == "model":
            calls = tuple(_calls(parts, number))
            events.append(Answered(calls))
            for call in calls:
                open_calls[call.name].append(call.id)
        else:
            for response in _all(parts, "functionResponse", "function_response"):
                waiting = open_calls[response["name"]]
                id_ = response.get("id") or (waiting[0] if waiting else "")
                if id_ in waiting:
                    waiting.remove(id_)
                results[id_] = _result(response.get("response") or {})
            events.append(Said(_text(parts).strip()))
    return events, results


def _calls(parts: Sequence[Part], number: int) -> Iterator[Call]:
    for at, call in enumerate(_all(parts, "functionCall", "function_call")):
        yield Call(call.get("id") or f"{number}.{at}", call["name"])


def _all(parts: Sequence[Part], *names: str) -> Iterator[Mapping[str, Any]]:
    return (found for part in parts if (found := _get(part, *names)) is not None)


def _result(response: Mapping[str, Any]) -> Result:
    if _ERROR in response:
        return Result(_as_text(response[_ERROR]), is_error=True)
    found = next((key for key in _TEXT_KEYS if isinstance(response.get(key), str)), None)
    return outcome(_as_text(response) if found is None else response[found])


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _text(parts: Sequence[Part]) -> str:
    """The texts, a line each, without thoughts; data is named."""
    return "\n".join(filter(None, map(_words, parts)))


def _words(part: Part) -> str:
    if part.get("thought"):
        return ""
    data = _get(part, "inlineData", "inline_data", "fileData", "file_data")
    return str(part.get("text") or ("" if data is None else "[data]"))
