"""What OpenAI answers: one response and one completion, whole and as streams.

Each has used 150 tokens of input, 50 of them cached and 20 written to the cache, and 30 of output,
20 of them reasoning.
"""

from collections.abc import Sequence
from typing import Any

import orjson
from aiohttp import web

from entrance.model.tokens import Tokens

MODEL = "gpt-6.1-sol"
USED = Tokens(input=80, output=30, cache_read=50, cache_write=20)
RESPONSE_USAGE = {
    "input_tokens": 150,
    "input_tokens_details": {"cached_tokens": 50, "cache_write_tokens": 20},
    "output_tokens": 30,
    "output_tokens_details": {"reasoning_tokens": 20},
    "total_tokens": 180,
}
CHAT_USAGE = {
    "prompt_tokens": 150,
    "prompt_tokens_details": {"cached_tokens": 50, "cache_write_tokens": 20},
    "completion_tokens": 30,
    "completion_tokens_details": {"reasoning_tokens": 20},
    "total_tokens": 180,
}
HEADERS = {
    "x-request-id": "req_1",
    "openai-organization": "org",
    "set-cookie": "a=b",
    "x-ratelimit-remaining-requests": "9",
}


def response_body(
    text: str = "Hello.", usage: dict[str, Any] | None = RESPONSE_USAGE, status: str = "completed"
) -> dict[str, Any]:
    """A response; one without `usage` is on its way."""
    content = [{"type": "output_text", "text": text, "annotations": []}]
    message = {
        "id": "msg_1", "type": "message", "role": "assistant", "status": "completed",
        "content": content,
    }  # fmt: skip
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1780000000,
        "status": status,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "model": MODEL,
        "output": [message] if text else [],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": usage,
    }


def response_events(texts: Sequence[str] = ("Hel", "lo.")) -> list[bytes]:
    """The same response as a stream's events."""
    item = {"id": "msg_1", "type": "message", "role": "assistant", "content": []}
    content = {"type": "output_text", "text": "", "annotations": []}
    whole = response_body("".join(texts))
    told: list[dict[str, Any]] = [
        {"type": "response.created", "response": response_body("", None, "in_progress")},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.content_part.added", "item_id": "msg_1", "output_index": 0,
         "content_index": 0, "part": content},
        *({"type": "response.output_text.delta", "item_id": "msg_1", "output_index": 0,
           "content_index": 0, "delta": text, "logprobs": []} for text in texts),
        {"type": "response.output_item.done", "output_index": 0, "item": whole["output"][0]},
        {"type": "response.completed", "response": whole},
    ]  # fmt: skip
    return [
        f"event: {one['type']}\n".encode()
        + b"data: " + orjson.dumps(one | {"sequence_number": number}) + b"\n\n"
        for number, one in enumerate(told)
    ]  # fmt: skip


def chat_body(text: str = "Hello.") -> dict[str, Any]:
    """A completion."""
    message = {"role": "assistant", "content": text, "refusal": None}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1780000000,
        "model": MODEL,
        "choices": [{"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}],
        "usage": CHAT_USAGE,
    }


def chat_chunks(texts: Sequence[str] = ("Hel", "lo."), *, usage: bool = True) -> list[bytes]:
    """The same completion as a stream; `usage`: with the chunk that has nothing else."""
    deltas = [{"role": "assistant", "content": ""}, *({"content": text} for text in texts)]
    choices: list[list[dict[str, Any]]] = [
        *([{"index": 0, "delta": delta, "finish_reason": None}] for delta in deltas),
        [{"index": 0, "delta": {}, "finish_reason": "stop"}],
    ]
    chunks = [_chunk(choice, None) for choice in choices]
    if usage:
        chunks.append(_chunk([], CHAT_USAGE))
    return [*(b"data: " + orjson.dumps(chunk) + b"\n\n" for chunk in chunks), b"data: [DONE]\n\n"]


def _chunk(choices: list[dict[str, Any]], usage: dict[str, Any] | None) -> dict[str, Any]:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1780000000,
        "model": MODEL,
        "choices": choices,
        "usage": usage,
    }


async def response(_: web.Request) -> web.Response:
    """Answers with the response."""
    return web.json_response(response_body(), headers=HEADERS)


async def chat(_: web.Request) -> web.Response:
    """Answers with the completion."""
    return web.json_response(chat_body(), headers=HEADERS)
