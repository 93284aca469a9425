"""Anthropic Messages: https://docs.claude.com/en/api/messages in both directions."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from orchestrator.stack.scripted.answers import Answer, ToolCall
from orchestrator.stack.scripted.dialects import Purpose, anthropic_messages
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
_JSON_PIECE = 40


class Anthropic:
    """The Messages dialect; see `Dialect` for what each method promises."""

    paths: Mapping[str, Purpose] = {"/v1/messages": "answer", "/v1/messages/count_tokens": "count"}

    def read(self, body: bytes, path: str) -> Request:  # noqa: ARG002 - others find the model in the path
        try:
            data = json.loads(body)
            return anthropic_messages.request(data, size=len(body))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise NotUnderstood(f"not a Messages request: {error!r}") from error

    def whole(self, answer: Answer) -> Mapping[str, Any]:
        blocks: list[Mapping[str, Any]] = (
            [{"type": "text", "text": answer.text}] if answer.text else []
        )
        blocks += [{**_tool_use(call), "input": call.arguments} for call in answer.calls]
        return {
            **_envelope(answer),
            "content": blocks,
            "stop_reason": _stop_reason(answer),
            "usage": _usage(answer, output=answer.tokens.output),
        }

    def pieces(self, answer: Answer) -> Iterator[bytes]:
        start = {
            **_envelope(answer),
            "content": [],
            "stop_reason": None,
            "usage": _usage(answer, output=1),
        }
        yield _event("message_start", message=start)
        yield _event("ping")
        for index, (block, deltas) in enumerate(_blocks(answer)):
            yield _event("content_block_start", index=index, content_block=block)
            for delta in deltas:
                yield _event("content_block_delta", index=index, delta=delta)
            yield _event("content_block_stop", index=index)
        yield _event(
            "message_delta",
            delta={"stop_reason": _stop_reason(answer), "stop_sequence": None},
            usage=_usage(answer, output=answer.tokens.output),
        )
        yield _event("message_stop")

    def count(self, tokens: int) -> Mapping[str, Any]:
        return {"input_tokens": tokens}

    def error(self, status: int, message: str) -> Mapping[str, Any]:
        kind = _ERROR_TYPES.get(status, "api_error")
        return {"type": "error", "error": {"type": kind, "message": message}, "request_id": None}


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
        words = re.findall(r"\s*\S+\s*|\s+", answer.text)
        yield {"type": "text", "text": ""}, [{"type": "text_delta", "text": word} for word in words]
    for call in answer.calls:
        text = json.dumps(call.arguments)
        parts = [text[at : at + _JSON_PIECE] for at in range(0, len(text), _JSON_PIECE)]
        yield (
            _tool_use(call),
            [{"type": "input_json_delta", "partial_json": part} for part in parts],
        )


def _stop_reason(answer: Answer) -> str:
    return "tool_use" if answer.calls else "end_turn"


def _usage(answer: Answer, *, output: int) -> dict[str, Any]:
    return {
        "input_tokens": answer.tokens.input,
        "cache_creation_input_tokens": answer.tokens.cache_write,
        "cache_read_input_tokens": answer.tokens.cache_read,
        "output_tokens": output,
        "service_tier": "standard",
    }


def _event(kind: str, **data: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n".encode()
