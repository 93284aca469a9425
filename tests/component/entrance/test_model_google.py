"""The model gateway between Google's SDK and a small real server."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from decimal import Decimal
from typing import Any

import pytest
from aiohttp import ClientSession, web
from google import genai
from google.genai import errors, types
from yarl import URL

from entrance.ports import Usage
from tests.servers import google
from tests.servers.anthropic import KEY, ModelServer, streaming
from tests.servers.door import RUN, Door
from tests.servers.log import text_of
from tests.waiting import until

pytestmark = pytest.mark.filterwarnings(
    "ignore:Inheritance class AiohttpClientSession:DeprecationWarning"
)
COST = Decimal("0.00043125")
"""100 in, 50 cached, 30 out (20 of them thought) at gemini-2.5-pro's prices."""
USED = Usage(100, 30, 50, 0, COST, 1)
BODY: dict[str, Any] = {"contents": [{"parts": [{"text": "Hi"}]}]}


@asynccontextmanager
async def client(door: Door, version: str = "v1") -> AsyncIterator[Any]:
    options = types.HttpOptions(base_url=f"{door.url}/model/google", api_version=version)
    ai = genai.Client(api_key=door.token, vertexai=False, http_options=options)
    async with ai.aio as models:
        yield models.models
    ai.close()


@pytest.mark.parametrize("version", ["v1", "v1beta"])
async def test_an_answer_goes_on_with_the_real_key_and_is_metered(
    door: Door, model: ModelServer, version: str
) -> None:
    model.answer = google.answer
    async with client(door, version) as ai:
        answer = await ai.generate_content(model=google.MODEL, contents="Hi")
    assert answer.text == "Hello."
    got = model.got[0]
    assert got.path == f"/{version}/models/{google.MODEL}:generateContent"
    assert got.headers["x-goog-api-key"] == KEY
    assert door.token not in str(got)
    assert "x-goog-api-client" not in got.headers
    assert door.meter.usage[RUN] == USED
    assert door.lines("model_call")[0]["subject"] == f"google:{google.MODEL}"


async def test_an_answer_is_streamed_and_metered_by_its_last_word(
    door: Door, model: ModelServer
) -> None:
    model.answer = streaming(google.chunks())
    async with client(door) as ai:
        stream = await ai.generate_content_stream(model=google.MODEL, contents="Hi")
        texts = [chunk.text async for chunk in stream]
    assert "".join(text or "" for text in texts) == "Hello."
    assert model.got[0].path == f"/v1/models/{google.MODEL}:streamGenerateContent?alt=sse"
    await until(lambda: RUN in door.meter.usage)
    assert door.meter.usage[RUN] == USED


async def test_a_parameter_that_is_given_twice_goes_on_as_it_was_judged(
    door: Door, model: ModelServer, http: ClientSession
) -> None:
    model.answer = streaming(google.chunks())
    path = f"/v1/models/{google.MODEL}:streamGenerateContent?alt=sse"
    url = URL(f"{door.url}/model/google{path}&alt=json", encoded=True)
    async with http.post(url, json=BODY, headers=door.bearer) as answer:
        assert answer.status == 200
    assert model.got[0].path == path


async def test_an_empty_budget_is_a_403_that_the_sdk_understands(
    door: Door, model: ModelServer
) -> None:
    door.meter.usage[RUN] = Usage(cost_usd=Decimal(1))
    async with client(door) as ai:
        with pytest.raises(errors.ClientError, match="budget") as error:
            await ai.generate_content(model=google.MODEL, contents="Hi")
    assert (error.value.code, error.value.status) == (403, "PERMISSION_DENIED")
    assert not model.got


async def test_an_answer_that_passes_the_cap_is_cut_with_an_error(
    door: Door, model: ModelServer
) -> None:
    door.reopen(budget_usd=Decimal("0.02"))
    model.answer = streaming(google.chunks(["word " * 200] * 50)[:-1])
    config = types.GenerateContentConfig(max_output_tokens=100)
    async with client(door) as ai:
        stream = await ai.generate_content_stream(model=google.MODEL, contents="Hi", config=config)
        with pytest.raises(errors.APIError, match="budget"):
            async for _ in stream:
                pass
    await until(lambda: bool(door.lines("outcome")))
    assert door.lines("outcome")[0]["result"] == "cut_at_budget"


async def test_counting_tokens_costs_nothing(door: Door, model: ModelServer) -> None:
    async def counted(_: web.Request) -> web.Response:
        return web.json_response({"totalTokens": 7})

    model.answer = counted
    async with client(door) as ai:
        count = await ai.count_tokens(model=google.MODEL, contents="Hi")
    assert count.total_tokens == 7
    assert RUN not in door.meter.usage


async def test_a_token_in_the_query_opens_the_door_and_stays_behind(
    door: Door, model: ModelServer, http: ClientSession
) -> None:
    model.answer = google.answer
    url = f"{door.url}/model/google/v1beta/models/{google.MODEL}:generateContent?key={door.token}"
    async with http.post(url, json=BODY) as answer:
        assert answer.status == 200
    assert model.got[0].path == f"/v1beta/models/{google.MODEL}:generateContent"
    assert door.token not in str(model.got[0])
    assert door.token not in text_of(door.log)


async def test_a_stream_is_served_as_events_only(
    door: Door, model: ModelServer, http: ClientSession
) -> None:
    url = f"{door.url}/model/google/v1/models/{google.MODEL}:streamGenerateContent"
    async with http.post(url, json=BODY, headers=door.bearer) as answer:
        assert answer.status == 400
        assert "alt=sse" in (await answer.json())["error"]["message"]
    assert not model.got


async def test_another_model_in_the_path_is_refused(
    door: Door, model: ModelServer, http: ClientSession
) -> None:
    url = f"{door.url}/model/google/v1/models/gemini-3.5-flash:generateContent"
    async with http.post(url, json=BODY | {"model": google.MODEL}, headers=door.bearer) as answer:
        assert answer.status == 403
    async with http.post(url, json=BODY, headers=door.bearer) as answer:
        assert answer.status == 403
        assert "not granted" in (await answer.json())["error"]["message"]
    assert not model.got


async def test_what_would_reach_out_is_refused_by_name(door: Door, model: ModelServer) -> None:
    search = types.Tool(google_search=types.GoogleSearch())
    async with client(door) as ai:
        with pytest.raises(errors.ClientError, match="googleSearch"):
            await ai.generate_content(
                model=google.MODEL,
                contents="Hi",
                config=types.GenerateContentConfig(tools=[search]),
            )
    assert not model.got


async def test_a_bad_key_is_not_echoed(door: Door, model: ModelServer, http: ClientSession) -> None:
    async def refused(_: web.Request) -> web.Response:
        message = f"API key not valid: {KEY} (AIzaSyA0123456789abcdefghijklmn)"
        error = {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}
        return web.json_response({"error": error}, status=400)

    model.answer = refused
    url = f"{door.url}/model/google/v1/models/{google.MODEL}:generateContent"
    async with http.post(url, json=BODY, headers=door.bearer) as answer:
        said = await answer.text()
    assert answer.status == 403
    assert "an operator" in said
    assert KEY not in said
    assert "AIza" not in said
