"""The items of a Responses answer, and the events that tell each of them."""

import json
from collections.abc import Iterator
from typing import Any

from orchestrator.stack.scripted.answers import Answer, ToolCall
from orchestrator.stack.scripted.dialects import wire
from orchestrator.stack.scripted.request import Form, Request

type Item = dict[str, Any]


def items(answer: Answer, asked: Request) -> list[Item]:
    """What the model gives out, in order: its (sealed) thoughts, its words, its calls."""
    found: list[Item] = []
    if answer.tokens.reasoning:
        found.append(
            {
                "id": f"rs_{answer.point}",
                "type": "reasoning",
                "summary": [],
                "encrypted_content": f"scripted-{answer.point}",
            }
        )
    if answer.text:
        found.append(
            {
                "id": f"msg_{answer.point}",
                "type": "message",
                "role": "assistant",
                "status": "completed",
                "content": [_text(answer.text)],
            }
        )
    calls = (_call(call, asked.forms.get(call.name, Form(call.name))) for call in answer.calls)
    return [*found, *calls]


def events(index: int, item: Item) -> Iterator[tuple[str, dict[str, Any]]]:
    """The events of an item, as kind and data, from its beginning to its end."""
    yield "output_item.added", {"output_index": index, "item": _begun(item)}
    place = {"output_index": index, "item_id": item["id"]}
    match item["type"]:
        case "message":
            for kind, data in _text_events(item["content"][0]):
                yield kind, {**place, "content_index": 0, **data}
        case "function_call":
            for part in wire.slices(item["arguments"]):
                yield "function_call_arguments.delta", {**place, "delta": part}
            told = {"name": item["name"], "arguments": item["arguments"]}
            yield "function_call_arguments.done", {**place, **told}
        case "custom_tool_call":
            for part in wire.slices(item["input"]):
                yield "custom_tool_call_input.delta", {**place, "delta": part}
            yield "custom_tool_call_input.done", {**place, "input": item["input"]}
        case _:  # a search and sealed thoughts come at once
            pass
    yield "output_item.done", {"output_index": index, "item": item}


def words_of(kind: str, data: Item) -> str:
    """What of the answer an event says."""
    if kind.endswith(".delta"):
        return str(data["delta"])
    item = data.get("item", {})
    search = kind == "output_item.done" and item["type"] == "tool_search_call"
    return json.dumps(item["arguments"]) if search else ""


def _text(text: str) -> Item:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def _text_events(part: Item) -> Iterator[tuple[str, dict[str, Any]]]:
    yield "content_part.added", {"part": _text("")}
    for word in wire.words(part["text"]):
        yield "output_text.delta", {"delta": word, "logprobs": []}
    yield "output_text.done", {"text": part["text"], "logprobs": []}
    yield "content_part.done", {"part": part}


def _call(call: ToolCall, form: Form) -> Item:
    named = {"call_id": f"call_{call.id}", "status": "completed"}
    if form.kind == "search":
        told = {"execution": "client", "arguments": call.arguments}
        return {"type": "tool_search_call", "id": f"tsc_{call.id}", **named, **told}
    if form.namespace is not None:
        named["namespace"] = form.namespace
    named["name"] = form.name
    if form.kind == "text":
        return {
            "type": "custom_tool_call",
            "id": f"ctc_{call.id}",
            **named,
            "input": call.arguments,
        }
    return {
        "type": "function_call",
        "id": f"fc_{call.id}",
        **named,
        "arguments": json.dumps(call.arguments),
    }


def _begun(item: Item) -> Item:
    """An item before anything of it is known."""
    blank: Item = {"content": [], "arguments": "", "input": "", "status": "in_progress"}
    kept = item["type"] == "tool_search_call"  # its arguments come with it, and at once
    return {
        key: value if kept and key == "arguments" else blank.get(key, value)
        for key, value in item.items()
    }
