"""A provider that tells the key back: however it does, the sandbox and the record don't see it."""

import base64
import gzip
import html
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import orjson
import pytest
from aiohttp import ClientSession, web

from tests.servers import google, openai
from tests.servers.anthropic import KEY, MODEL, Answer, ModelServer
from tests.servers.door import Door
from tests.servers.log import text_of
from tests.waiting import until

ASKED: Mapping[str, tuple[str, dict[str, Any]]] = {
    "anthropic": (
        "anthropic/v1/messages",
        {"model": MODEL, "max_tokens": 10, "messages": [{"role": "user", "content": "Hi"}]},
    ),
    "responses": ("openai/v1/responses", {"model": openai.MODEL, "input": "Hi"}),
    "chat": ("openai/v1/chat/completions", {"model": openai.MODEL, "messages": []}),
    "gemini": (f"google/v1/models/{google.MODEL}:generateContent", {"contents": []}),
}
UNESCAPED = "\\u0073" + KEY[1:]
FORMS: Mapping[str, str] = {
    "as it is": KEY,
    "as a URL has it": quote(KEY, safe=""),
    "in base64": base64.b64encode(f"user:{KEY}".encode()).decode(),
    "in hex": KEY.encode().hex(),
}
BODIES: Mapping[str, Callable[[str], tuple[bytes, str]]] = {
    "json": lambda told: (
        orjson.dumps({"error": {"message": f"you sent {told}", "type": told, "code": told}}),
        "application/json",
    ),
    "json keys and lists": lambda told: (
        orjson.dumps([{"error": {told: [told], "message": "no"}}]),
        "application/json",
    ),
    "text": lambda told: (f"no: {told}".encode(), "text/plain"),
    "html": lambda told: (f"<h1>no</h1><p>{html.escape(told)}</p>".encode(), "text/html"),
    "broken json": lambda told: (f'{{"error": "{told}'.encode(), "application/json"),
}
PACKINGS: Mapping[str, Callable[[bytes], bytes]] = {
    "identity": lambda raw: raw,
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": lambda raw: raw,
    "zstd": lambda raw: raw,
}


@dataclass(frozen=True)
class Told:
    """All that the client and the record got."""

    status: int
    body: str
    headers: str
    record: str


def answering(status: int, body: bytes, **headers: str) -> Answer:
    async def answer(_: web.Request) -> web.Response:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return web.Response(status=status, body=body, headers=named)

    return answer


async def ask(http: ClientSession, door: Door, dialect: str) -> Told:
    path, body = ASKED[dialect]
    async with http.post(f"{door.url}/model/{path}", json=body, headers=door.bearer) as answer:
        text, headers = await answer.text(), str(answer.headers)
    await until(lambda: bool(door.lines("outcome")))
    return Told(answer.status, text, headers, text_of(door.log))


def hides(told: Told, *forms: str) -> None:
    for form in (KEY, KEY[8:], *forms):
        for where, text in (
            ("body", told.body),
            ("headers", told.headers),
            ("record", told.record),
        ):
            assert form.rstrip("=") not in text, (where, form, text)


@pytest.mark.parametrize("dialect", ASKED)
@pytest.mark.parametrize("status", [400, 401, 429, 500])
@pytest.mark.parametrize("shape", BODIES)
async def test_in_an_error_of_any_shape(
    door: Door, model: ModelServer, http: ClientSession, dialect: str, *, status: int, shape: str
) -> None:
    body, kind = BODIES[shape](KEY)
    model.answer = answering(status, body, content_type=kind)
    told = await ask(http, door, dialect)
    hides(told)
    assert f'"status":{status}' in told.record.replace(" ", "")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", BODIES)
async def test_in_any_form(
    door: Door, model: ModelServer, http: ClientSession, form: str, shape: str
) -> None:
    body, kind = BODIES[shape](FORMS[form])
    model.answer = answering(400, body, content_type=kind)
    told = await ask(http, door, "anthropic")
    hides(told, FORMS[form], base64.b64encode(KEY.encode()).decode()[4:-4])
    assert told.status == 400


@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize("dialect", ASKED)
async def test_in_an_error_that_is_packed(
    door: Door, model: ModelServer, http: ClientSession, packing: str, dialect: str
) -> None:
    body, kind = BODIES["json"](KEY)
    packed = PACKINGS[packing](body)
    model.answer = answering(529, packed, content_type=kind, content_encoding=packing)
    told = await ask(http, door, dialect)
    hides(told)
    assert told.status == 529
    assert ("you sent [redacted]" in told.body) is (packing in {"identity", "gzip", "deflate"})


async def test_escaped_in_json(door: Door, model: ModelServer, http: ClientSession) -> None:
    body = b'{"error": {"message": "you sent ' + UNESCAPED.encode() + b'"}}'
    model.answer = answering(400, body, content_type="application/json")
    told = await ask(http, door, "anthropic")
    hides(told)
    assert "you sent [redacted]" in told.body


@pytest.mark.parametrize("dialect", ASKED)
async def test_in_headers(
    door: Door, model: ModelServer, http: ClientSession, dialect: str
) -> None:
    headers = dict.fromkeys(
        ("request_id", "x_request_id", "retry_after", "x_ratelimit_reset", "x_should_retry"), KEY
    )
    model.answer = answering(429, b"{}", content_type="application/json", **headers)
    told = await ask(http, door, dialect)
    hides(told)
    assert told.status == 429


@pytest.mark.parametrize("dialect", ASKED)
async def test_split_over_the_chunks_of_an_error(
    door: Door, model: ModelServer, http: ClientSession, dialect: str
) -> None:
    async def pieces(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(status=400, headers={"content-type": "application/json"})
        await response.prepare(request)
        for letter in orjson.dumps({"error": {"message": KEY}}):
            await response.write(bytes([letter]))
        return response

    model.answer = pieces
    told = await ask(http, door, dialect)
    hides(told)
    assert told.status == 400


@pytest.mark.parametrize("dialect", ASKED)
async def test_split_over_the_chunks_of_a_stream(
    door: Door, model: ModelServer, http: ClientSession, dialect: str
) -> None:
    async def pieces(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        event = b"data: " + orjson.dumps({"type": "x", "text": f"you sent {KEY}"}) + b"\n\n"
        for letter in event + event[:-2]:  # the last has no end
            await response.write(bytes([letter]))
        return response

    model.answer = pieces
    told = await ask(http, door, dialect)
    hides(told)
    assert told.body.count("you sent [redacted]") == 2


@pytest.mark.parametrize("dialect", ASKED)
async def test_in_an_answer_that_is_none(
    door: Door, model: ModelServer, http: ClientSession, dialect: str
) -> None:
    model.answer = answering(200, f"hello {KEY}".encode(), content_type="text/plain")
    told = await ask(http, door, dialect)
    hides(told)
    assert told.body == "hello [redacted]"
