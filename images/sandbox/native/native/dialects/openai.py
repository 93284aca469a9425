"""OpenAI's Responses API: https://platform.openai.com/docs/api-reference/responses [pure].

Nothing is kept there (`store` is off): each request has the whole conversation, the model's sealed
thoughts among it.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from native import patience
from native.conversation import Call, Prompt, Reply, Result, Results
from native.dialects import Answer, Question, Request, Stop, Usage
from native.dialects.reading import count, given, part
from native.patience import Kind

Item = dict[str, Any]

_THINK_NOT = ("chatgpt-", "gpt-3", "gpt-4")
"""How the names of models begin that refuse to be asked for sealed thoughts: they have none."""
_FAILED = "Error: "
"""A result has no place to say that it is an error: its text says it."""
_STATUS_OF_CODE: Mapping[str, int] = {
    "context_length_exceeded": 400,
    "insufficient_quota": 402,
    "invalid_prompt": 400,
    "rate_limit_exceeded": 429,
    "server_is_overloaded": 503,
}
"""For errors in the middle of a stream, whose HTTP status was 200."""
_KINDS: Mapping[str, Kind] = {
    "context_length_exceeded": "too_long",
    "insufficient_quota": "final",  # it comes as a 429, but no waiting helps
}
_STOPS: Mapping[str, Stop] = {"max_output_tokens": "cut", "content_filter": "refused"}
_ENDS = frozenset({"response.completed", "response.incomplete"})


class Responses:
    """Implements `Dialect`."""

    def request(self, question: Question) -> Request:
        body: Item = {
            "model": question.model,
            "instructions": question.system,
            "input": list(_input(question)),
            "max_output_tokens": question.max_tokens,
            "store": False,
            "stream": True,
        }
        if not question.model.startswith(_THINK_NOT):
            body["include"] = ["reasoning.encrypted_content"]
        if question.tools:
            body["tools"] = [
                {
                    "type": "function",
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.schema,
                    "strict": False,
                }
                for tool in question.tools
            ]
        return Request("/v1/responses", body)

    def reader(self, question: Question) -> "ResponsesReader":
        return ResponsesReader(question.author)

    def kind(self, status: int, error: Mapping[str, Any]) -> Kind | None:
        del status
        return _KINDS.get(str(error.get("code"))) or _KINDS.get(str(error.get("type")))


class ResponsesReader:
    """Implements `Reader`: items come whole at their ends, the last event has the usage."""

    def __init__(self, author: str) -> None:
        self._author = author
        self._items: dict[int, Item] = {}
        self._response: Mapping[str, Any] | None = None

    def feed(self, event: Mapping[str, Any]) -> None:
        kind = event.get("type")
        if kind == "response.output_item.done":
            self._items[event["output_index"]] = event["item"]
        elif kind in _ENDS:
            self._response = event["response"]
        elif kind == "response.failed":
            raise _trouble(part(event["response"], "error"))
        elif kind == "error":
            raise _trouble(part(event, "error") or event)

    def answer(self) -> Answer | None:
        if self._response is None:
            return None
        output = self._response.get("output")
        items: list[Item] = output or [item for _, item in sorted(self._items.items())]
        calls = tuple(
            Call(item["call_id"], item["name"], given(item["arguments"]))
            for item in items
            if item["type"] == "function_call"
        )
        said = list(_parts(items, "message", "content"))
        refusals = [piece["refusal"] for piece in said if piece.get("type") == "refusal"]
        texts = [piece["text"] for piece in said if piece.get("type") == "output_text"]
        why = str(part(self._response, "incomplete_details").get("reason") or "")
        return Answer(
            Reply("\n".join([*texts, *refusals]), calls, self._author, tuple(items)),
            "refused" if refusals else _STOPS.get(why, "done"),
            _usage(part(self._response, "usage")),
            reasoning="\n".join(
                piece["text"] for piece in _parts(items, "reasoning", "summary") if "text" in piece
            ),
            reason=why or ("refusal" if refusals else ""),
        )


def _parts(items: list[Item], kind: str, key: str) -> Iterator[Item]:
    for item in items:
        if item["type"] == kind:
            yield from item.get(key) or ()


def _input(question: Question) -> Iterator[Item]:
    for message in question.messages:
        match message:
            case Prompt(text):
                yield {"type": "message", "role": "user", "content": text}
            case Results(results):
                yield from map(_output, results)
            case Reply():
                own = message.items_for(question.author)
                yield from _told(message) if own is None else own


def _output(result: Result) -> Item:
    text = f"{_FAILED}{result.text}" if result.is_error else result.text
    return {"type": "function_call_output", "call_id": result.call, "output": text}


def _told(reply: Reply) -> Iterator[Item]:
    """Another model's reply, in words and calls."""
    if reply.text:
        yield {"type": "message", "role": "assistant", "content": reply.text}
    for call in reply.calls:
        arguments = call.input if isinstance(call.input, str) else json.dumps(call.input)
        called = {"call_id": call.id, "name": call.name, "arguments": arguments}
        yield {"type": "function_call", **called}


def _trouble(error: Mapping[str, Any]) -> patience.Trouble:
    code = str(error.get("code"))
    status = _STATUS_OF_CODE.get(code, 500)
    return patience.of_status(status, str(error.get("message")), kind=_KINDS.get(code))


def _usage(usage: Mapping[str, Any]) -> Usage:
    """The prompt's count has in it what was read from the cache and what was written to it."""
    details = part(usage, "input_tokens_details")
    read, written = count(details, "cached_tokens"), count(details, "cache_write_tokens")
    return Usage(
        input_tokens=count(usage, "input_tokens") - read - written,
        output_tokens=count(usage, "output_tokens"),
        cache_read_tokens=read,
        cache_write_tokens=written,
    )
