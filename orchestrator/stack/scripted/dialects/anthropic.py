"""Anthropic Messages: https://docs.claude.com/en/api/messages in both directions."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from orchestrator.stack.scripted.answers import Answer, Tokens, ToolCall
from orchestrator.stack.scripted.dialects import Purpose, anthropic_messages, wire
from orchestrator.stack.scripted.dialects.wire import Piece
from orchestrator.stack.scripted.request import NotUnderstood, Request

_ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}


class Anthropic:
    """The Messages dialect; see `Dialect` for what each method promises."""

    id_header = "request-id"
    paths: Mapping[str, Purpose] = {"/v1/messages": "answer", "/v1/messages/count_tokens": "count"}

    def read(self, body: bytes, path: str) -> Request:  # noqa: ARG002 - others find the model in the path
        try:
            data = json.loads(body)
            return anthropic_messages.request(data, size=len(body))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise NotUnderstood(f"not a Messages request: {error!r}") from error

    def whole(self, answer: Answer, asked: Request) -> Mapping[str, Any]:  # noqa: ARG002 - others look at it
        blocks: list[Mapping[str, Any]] = (
            [{"type": "text", "text": answer.text}] if answer.text else []
        )
        blocks += [{**_tool_use(call), "input": call.arguments} for call in answer.calls]
        return {
            **_envelope(answer),
            "content": blocks,
            "stop_reason": _stop_reason(answer),
            "usage": _usage(answer),
        }

    def pieces(self, answer: Answer, asked: Request) -> Iterator[Piece]:  # noqa: ARG002 - as above
        start = {
            **_envelope(answer),
            "content": [],
            "stop_reason": None,
            "usage": {**_usage(answer), "output_tokens": 1},
        }
        yield _event("message_start", message=start)
        yield _event("ping")
        for index, (block, deltas) in enumerate(_blocks(answer)):
            yield _event("content_block_start", index=index, content_block=block)
            for delta in deltas:
                yield _event("content_block_delta", says=_words_of(delta), index=index, delta=delta)
            yield _event("content_block_stop", index=index)
        yield _event(
            "message_delta",
            delta={"stop_reason": _stop_reason(answer), "stop_sequence": None},
            usage=_usage(answer),
        )
        yield _event("message_stop")

    def count(self, tokens: int) -> Mapping[str, Any]:
        return {"input_tokens": tokens}

    def error(
        self,
        status: int,
        message: str,
        retry_after_s: float | None = None,  # noqa: ARG002 - here it is in the header alone
    ) -> Mapping[str, Any]:
        kind = _ERROR_TYPES.get(status, "api_error")
        return {"type": "error", "error": {"type": kind, "message": message}, "request_id": None}

    def overflow(self, tokens: int) -> Mapping[str, Any]:
        return self.error(400, f"prompt is too long: {tokens} tokens > {tokens - 1} maximum")

    def told(self, tokens: Tokens) -> Tokens:
        return tokens


def _envelope(answer: Answer) -> dict[str, Any]:
    return {
        "id": f"msg_{answer.point}",
        "type": "message",
        "role": "assistant",
        "model": answer.model,
        "stop_sequence": None,
    }


def _tool_use(call: ToolCall) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"toolu_{call.id}", "name": call.name, "input": {}}


def _blocks(answer: Answer) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Each content block as it starts, and the deltas that fill it."""
    if answer.text:
        words = wire.words(answer.text)
        yield {"type": "text", "text": ""}, [{"type": "text_delta", "text": word} for word in words]
    for call in answer.calls:
        parts = wire.slices(json.dumps(call.arguments))
        yield (
            _tool_use(call),
            [{"type": "input_json_delta", "partial_json": part} for part in parts],
        )


def _stop_reason(answer: Answer) -> str:
    return "tool_use" if answer.calls else "end_turn"


def _usage(answer: Answer) -> dict[str, Any]:
    reasoning = answer.tokens.reasoning
    return {
        "input_tokens": answer.tokens.input,
        "cache_creation_input_tokens": answer.tokens.cache_write,
        "cache_read_input_tokens": answer.tokens.cache_read,
        "output_tokens": answer.tokens.output,
        "service_tier": "standard",
        **({"output_tokens_details": {"thinking_tokens": reasoning}} if reasoning else {}),
    }


def _words_of(delta: Mapping[str, Any]) -> str:
    return str(delta.get("text") or delta.get("partial_json") or "")


def _event(kind: str, *, says: str = "", **data: Any) -> Piece:
    return wire.event({"type": kind, **data}, kind, says=says)
