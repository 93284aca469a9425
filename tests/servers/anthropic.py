"""A small Anthropic-shaped server on loopback that answers as it is told, and keeps what it got."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import orjson
from aiohttp import web

KEY = "sk-ant-real-key-0123456789"
MODEL = "claude-opus-5-5"

Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass
class Got:
    """One request as it arrived."""

    path: str
    headers: dict[str, str]
    body: Any


@dataclass
class ModelServer:
    """Set `answer` to change what it does."""

    url: str = ""
    got: list[Got] = field(default_factory=list)
    answer: Answer = field(default=lambda _: message())
    site: web.TCPSite | None = None
    """Stop it to have nobody answer."""

    async def handle(self, request: web.Request) -> web.StreamResponse:
        headers = {name.lower(): value for name, value in request.headers.items()}
        self.got.append(Got(request.path_qs, headers, orjson.loads(await request.read())))
        shown = {headers.get("x-api-key"), headers.get("x-goog-api-key")}
        if KEY not in shown | {headers.get("authorization", "")[7:]}:
            return web.json_response({"type": "error"}, status=401)
        return await self.answer(request)


async def message(text: str = "Hello.") -> web.Response:
    """A whole message with usage: 100 in, 50 read from cache, 20 written (5 of them for 1 h), 10 out."""
    return web.json_response(
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": MODEL,
            "content": [{"type": "text", "text": text}],
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "usage": {
                "input_tokens": 100,
                "cache_read_input_tokens": 50,
                "cache_creation_input_tokens": 20,
                "cache_creation": {
                    "ephemeral_5m_input_tokens": 15,
                    "ephemeral_1h_input_tokens": 5,
                },
                "output_tokens": 10,
            },
        },
        headers={"request-id": "req_1", "set-cookie": "a=b", "anthropic-organization-id": "org"},
    )


def events(texts: Sequence[str] = ("Hel", "lo."), output_tokens: int = 10) -> list[bytes]:
    """The same message as a stream's events."""
    start: dict[str, Any] = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": MODEL,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {
            "input_tokens": 100,
            "cache_read_input_tokens": 50,
            "cache_creation_input_tokens": 20,
            "cache_creation": {"ephemeral_5m_input_tokens": 15, "ephemeral_1h_input_tokens": 5},
            "output_tokens": 1,
        },
    }
    block = {"type": "text", "text": ""}
    deltas = [
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}
        for text in texts
    ]
    told: list[dict[str, Any]] = [
        {"type": "message_start", "message": start},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "ping"},
        *deltas,
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn", "stop_sequence": None},
            "usage": {"output_tokens": output_tokens},
        },
        {"type": "message_stop"},
    ]
    return [
        f"event: {one['type']}\n".encode() + b"data: " + orjson.dumps(one) + b"\n\n" for one in told
    ]


def streaming(chunks: Sequence[bytes]) -> Answer:
    """An answer that streams these chunks and ends well."""

    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        for chunk in chunks:
            await response.write(chunk)
        await response.write_eof()
        return response

    return answer


@asynccontextmanager
async def model_server() -> AsyncIterator[ModelServer]:
    """Serves until the block ends."""
    server = ModelServer()
    app = web.Application(client_max_size=64 << 20)
    app.router.add_route("*", "/{path:.*}", server.handle)
    runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=0.5)
    await runner.setup()
    try:
        server.site = web.TCPSite(runner, "127.0.0.1", 0)
        await server.site.start()
        server.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        yield server
    finally:
        await runner.cleanup()
