"""Anthropic's Messages API: https://docs.claude.com/en/api/messages [pure]."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from native import patience
from native.conversation import Call, Message, Prompt, Reply, Results
from native.dialects import Answer, Question, Request, Stop, Usage
from native.dialects.reading import count, given, part
from native.patience import Kind

Block = dict[str, Any]

_CACHED: Mapping[str, Any] = {"cache_control": {"type": "ephemeral"}}
_STATUS_OF_TYPE: Mapping[str, int] = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "overloaded_error": 529,
}
"""For errors in the middle of a stream, whose HTTP status was 200."""
_STOPS: Mapping[str, Stop] = {
    "max_tokens": "cut",
    "model_context_window_exceeded": "cut",
    "pause_turn": "paused",
    "refusal": "refused",
}
_GROWS: Mapping[str, str] = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "signature",
}
"""Deltas that are added to a field of their block."""


class Messages:
    """Implements `Dialect`."""

    def request(self, question: Question) -> Request:
        body: Block = {
            "model": question.model,
            "max_tokens": question.max_tokens,
            "system": [{"type": "text", "text": question.system, **_CACHED}],
            "messages": _cached(list(_messages(question))),
            "stream": True,
        }
        if question.tools:
            body["tools"] = [
                {"name": tool.name, "description": tool.description, "input_schema": tool.schema}
                for tool in question.tools
            ]
        return Request("/v1/messages", body, {"anthropic-version": "2023-06-01"})

    def reader(self, question: Question) -> "MessagesReader":
        return MessagesReader(question.author)

    def kind(self, status: int, error: Mapping[str, Any]) -> Kind | None:
        too_long = status == 400 and "too long" in str(error.get("message"))  # noqa: PLR2004
        return "too_long" if too_long else None


class MessagesReader:
    """Implements `Reader`: content blocks that grow by deltas."""

    def __init__(self, author: str) -> None:
        self._author = author
        self._blocks: dict[int, Block] = {}
        self._inputs: dict[int, str] = {}
        self._usage: dict[str, Any] = {}
        self._reason = ""

    def feed(self, event: Mapping[str, Any]) -> None:
        match event.get("type"):
            case "message_start":
                self._count(part(event["message"], "usage"))
            case "content_block_start":
                self._blocks[event["index"]] = dict(event["content_block"])
            case "content_block_delta":
                self._grow(event["index"], event["delta"])
            case "message_delta":
                self._count(part(event, "usage"))
                self._reason = event["delta"].get("stop_reason") or ""
            case "error":
                raise _trouble(part(event, "error"))
            case _:
                pass

    def answer(self) -> Answer | None:
        if not self._reason:
            return None
        items: list[Block] = []
        calls: list[Call] = []
        for index, block in sorted(self._blocks.items()):
            if block["type"] == "tool_use":
                asked = given(self._inputs[index]) if index in self._inputs else block["input"]
                calls.append(Call(block["id"], block["name"], asked))
                items.append({**block, "input": asked if isinstance(asked, dict) else {}})
            elif block.get("text") != "":  # an empty text is not taken back
                items.append(block)
        texts = [item["text"] for item in items if item["type"] == "text"]
        thoughts = [item["thinking"] for item in items if item["type"] == "thinking"]
        return Answer(
            Reply("\n".join(texts), tuple(calls), self._author, tuple(items)),
            _STOPS.get(self._reason, "done"),
            _usage(self._usage),
            reasoning="\n".join(thoughts),
            reason=self._reason,
        )

    def _count(self, usage: Mapping[str, Any]) -> None:
        self._usage.update({key: value for key, value in usage.items() if value is not None})

    def _grow(self, index: int, delta: Mapping[str, Any]) -> None:
        block, kind = self._blocks[index], delta["type"]
        if kind == "input_json_delta":
            self._inputs[index] = self._inputs.get(index, "") + delta["partial_json"]
        elif kind == "citations_delta":
            block["citations"] = [*(block.get("citations") or ()), delta["citation"]]
        elif kind in _GROWS:
            name = _GROWS[kind]
            block[name] = block.get(name, "") + delta[name]


def _messages(question: Question) -> Iterator[Block]:
    for message in question.messages:
        if blocks := _blocks(message, question.author):
            role = "assistant" if isinstance(message, Reply) else "user"
            yield {"role": role, "content": blocks}


def _blocks(message: Message, author: str) -> list[Block]:
    match message:
        case Prompt(text):
            return [{"type": "text", "text": text}]
        case Results(results):
            return [
                {
                    "type": "tool_result",
                    "tool_use_id": result.call,
                    "content": result.text,
                    "is_error": result.is_error,
                }
                for result in results
            ]
        case Reply():
            own = message.items_for(author)
            return _told(message) if own is None else list(own)


def _told(reply: Reply) -> list[Block]:
    """Another model's reply, in words and calls."""
    words = [{"type": "text", "text": reply.text}] if reply.text.strip() else []
    calls = [
        {
            "type": "tool_use",
            "id": call.id,
            "name": call.name,
            "input": call.input if isinstance(call.input, dict) else {},
        }
        for call in reply.calls
    ]
    return [*words, *calls]


def _cached(messages: Sequence[Block]) -> list[Block]:
    """The messages with the provider's cache told to reach up to the last one of ours."""
    at = max(n for n, message in enumerate(messages) if message["role"] == "user")
    *before, block = messages[at]["content"]
    marked = {**messages[at], "content": [*before, {**block, **_CACHED}]}
    return [*messages[:at], marked, *messages[at + 1 :]]


def _trouble(error: Mapping[str, Any]) -> patience.Trouble:
    status = _STATUS_OF_TYPE.get(str(error.get("type")), 500)
    return patience.of_status(status, str(error.get("message")))


def _usage(usage: Mapping[str, Any]) -> Usage:
    return Usage(
        input_tokens=count(usage, "input_tokens"),
        output_tokens=count(usage, "output_tokens"),
        cache_read_tokens=count(usage, "cache_read_input_tokens"),
        cache_write_tokens=count(usage, "cache_creation_input_tokens"),
    )
