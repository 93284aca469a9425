"""What Gemini answers: one answer, whole and as a stream.

It has used 150 tokens of input, 50 of them cached, and 30 of output, 20 of them thought.
"""

from collections.abc import Sequence
from typing import Any

import orjson
from aiohttp import web

from entrance.model.tokens import Tokens

MODEL = "gemini-2.5-pro"
USED = Tokens(input=100, output=30, cache_read=50)
USAGE = {
    "promptTokenCount": 150,
    "cachedContentTokenCount": 50,
    "candidatesTokenCount": 10,
    "thoughtsTokenCount": 20,
    "totalTokenCount": 180,
}


def body(
    text: str = "Hello.", usage: dict[str, Any] | None = USAGE, finish: str | None = "STOP"
) -> dict[str, Any]:
    """An answer, or a chunk of one."""
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": [{"text": text}]}}
    if finish:
        candidate["finishReason"] = finish
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": MODEL}


def chunks(texts: Sequence[str] = ("Hel", "lo.")) -> list[bytes]:
    """The same answer as a stream; totals grow from chunk to chunk."""
    early = USAGE | {"candidatesTokenCount": 1, "thoughtsTokenCount": 20}
    told = [*(body(text, early, None) for text in texts), body("")]
    return [b"data: " + orjson.dumps(one) + b"\r\n\r\n" for one in told]


async def answer(_: web.Request) -> web.Response:
    """Answers with it."""
    return web.json_response(body(), headers={"set-cookie": "a=b", "server-timing": "gfet4t7"})
