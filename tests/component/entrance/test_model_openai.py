"""The model gateway between the OpenAI SDK and a small real server, both of its APIs."""

from decimal import Decimal
from typing import Any

import openai as sdk
import orjson
import pytest
from aiohttp import ClientSession, web

from entrance.ports import Usage
from tests.servers import openai
from tests.servers.anthropic import KEY, ModelServer, streaming
from tests.servers.door import RUN, Door
from tests.servers.log import text_of
from tests.waiting import until

COST = Decimal("0.000515")
"""80 in, 50 cached, 20 written, 30 out at gpt-6.1-sol's prices."""
USED = Usage(80, 30, 50, 20, COST, 1)


def client(door: Door) -> sdk.AsyncOpenAI:
    return sdk.AsyncOpenAI(
        base_url=f"{door.url}/model/openai/v1", api_key=door.token, max_retries=0
    )


async def test_a_response_goes_on_with_the_real_key_and_is_metered(
    door: Door, model: ModelServer
) -> None:
    model.answer = openai.response
    async with client(door) as ai:
        answer = await ai.responses.create(model=openai.MODEL, input="Hi")
    assert answer.output_text == "Hello."
    got = model.got[0]
    assert got.path == "/v1/responses"
    assert got.headers["authorization"] == f"Bearer {KEY}"
    assert door.token not in str(got)
    assert got.body["store"] is False
    assert not [name for name in got.headers if name.startswith("x-stainless")]
    assert door.meter.usage[RUN] == USED
    assert door.lines("outcome")[0]["detail"]["request_id"] == "req_1"


async def test_a_response_is_streamed_and_metered_by_its_last_word(
    door: Door, model: ModelServer
) -> None:
    model.answer = streaming(openai.response_events())
    async with client(door) as ai, ai.responses.stream(model=openai.MODEL, input="Hi") as stream:
        answer = await stream.get_final_response()
    assert answer.output_text == "Hello."
    await until(lambda: RUN in door.meter.usage)
    assert door.meter.usage[RUN] == USED


async def test_a_completion_is_metered(door: Door, model: ModelServer) -> None:
    model.answer = openai.chat
    async with client(door) as ai:
        answer = await ai.chat.completions.create(
            model=openai.MODEL, messages=[{"role": "user", "content": "Hi"}]
        )
    assert answer.choices[0].message.content == "Hello."
    assert model.got[0].path == "/v1/chat/completions"
    assert door.meter.usage[RUN] == USED


@pytest.mark.parametrize("wanted", [True, False])
async def test_a_completion_is_streamed_and_its_usage_told_to_who_asked(
    door: Door, model: ModelServer, *, wanted: bool
) -> None:
    model.answer = streaming(openai.chat_chunks())
    options: Any = {"stream_options": {"include_usage": True}} if wanted else {}
    async with client(door) as ai:
        stream = await ai.chat.completions.create(
            model=openai.MODEL,
            messages=[{"role": "user", "content": "Hi"}],
            stream=True,
            **options,
        )
        chunks = [chunk async for chunk in stream]
    assert "".join(c.choices[0].delta.content or "" for c in chunks if c.choices) == "Hello."
    assert bool([chunk for chunk in chunks if chunk.usage]) is wanted
    assert all(chunk.choices for chunk in chunks) is not wanted
    assert model.got[0].body["stream_options"] == {"include_usage": True}
    await until(lambda: RUN in door.meter.usage)
    assert door.meter.usage[RUN] == USED


async def test_an_empty_budget_is_a_400_that_the_sdk_understands(
    door: Door, model: ModelServer
) -> None:
    """Codex tries again after a 402 and a 403."""
    door.meter.usage[RUN] = Usage(cost_usd=Decimal(1))
    async with client(door) as ai:
        with pytest.raises(sdk.BadRequestError, match="budget") as error:
            await ai.responses.create(model=openai.MODEL, input="Hi")
    assert error.value.code == "insufficient_quota"
    assert not model.got


async def test_an_empty_budget_is_a_403_for_chat(door: Door, model: ModelServer) -> None:
    """CASE-101: one request, then the end."""
    door.meter.usage[RUN] = Usage(cost_usd=Decimal(1))
    async with client(door) as ai:
        with pytest.raises(sdk.PermissionDeniedError, match="budget") as error:
            await ai.chat.completions.create(model=openai.MODEL, messages=[])
    assert error.value.code == "insufficient_quota"
    assert not model.got


async def test_a_response_that_passes_the_cap_is_cut_with_a_failed_response(
    door: Door, model: ModelServer
) -> None:
    door.reopen(budget_usd=Decimal("0.02"))
    model.answer = streaming(openai.response_events(["word " * 200] * 50)[:-2])
    async with client(door) as ai:
        stream = await ai.responses.create(
            model=openai.MODEL, input="Hi", stream=True, max_output_tokens=100
        )
        last = [event async for event in stream][-1]
    assert last.type == "response.failed"
    assert last.response.id == "resp_1"
    assert last.response.error is not None
    assert str(last.response.error.code) == "insufficient_quota"
    await until(lambda: bool(door.lines("outcome")))
    assert door.lines("outcome")[0]["result"] == "cut_at_budget"


async def test_a_completion_that_passes_the_cap_is_cut_with_an_error(
    door: Door, model: ModelServer
) -> None:
    door.reopen(budget_usd=Decimal("0.02"))
    model.answer = streaming(openai.chat_chunks(["word " * 200] * 50)[:-3])
    async with client(door) as ai:
        stream = await ai.chat.completions.create(
            model=openai.MODEL,
            messages=[{"role": "user", "content": "Hi"}],
            stream=True,
            max_completion_tokens=100,
        )
        with pytest.raises(sdk.APIError, match="budget"):
            async for _ in stream:
                pass


async def test_what_would_reach_out_is_refused_by_name(
    door: Door, model: ModelServer, http: ClientSession
) -> None:
    for path, body, status in (
        ("responses", {"input": "Hi", "tools": [{"type": "web_search"}]}, 400),
        ("responses", {"input": "Hi", "background": True}, 400),
        ("chat/completions", {"messages": [], "web_search_options": {"x": 1}}, 403),
    ):
        url = f"{door.url}/model/openai/v1/{path}"
        async with http.post(url, json={"model": openai.MODEL} | body, headers=door.bearer) as said:
            assert said.status == status
            assert (await said.json())["error"]["code"] == "refused"
    assert not model.got
    reasons = [line["reason"] for line in door.lines("model_call")]
    assert ["web_search" in reasons[0], "background" in reasons[1]] == [True, True]


async def test_the_providers_errors_come_back_without_the_key(
    door: Door, model: ModelServer, http: ClientSession
) -> None:
    async def limited(_: web.Request) -> web.Response:
        text = f"You ask too often; you sent {KEY} and sk-proj-another_0123456789"
        body = {"error": {"message": text, "type": "tokens", "code": "rate_limit_exceeded"}}
        headers = {"retry-after": "3", "x-request-id": f"for-{KEY}"}
        return web.json_response(body, status=429, headers=headers)

    model.answer = limited
    url = f"{door.url}/model/openai/v1/responses"
    async with http.post(
        url, json={"model": openai.MODEL, "input": "Hi"}, headers=door.bearer
    ) as answer:
        assert answer.status == 429
        assert answer.headers["retry-after"] == "3"
        said = await answer.text() + str(answer.headers)
    assert "rate_limit_exceeded" in said
    assert KEY not in said
    assert "sk-proj" not in said
    assert KEY not in text_of(door.log)
    assert door.lines("outcome")[0]["detail"]["retry_after"] == "3"


async def test_only_named_headers_come_back(
    door: Door, model: ModelServer, http: ClientSession
) -> None:
    model.answer = openai.response
    url = f"{door.url}/model/openai/v1/responses"
    body = orjson.dumps({"model": openai.MODEL, "input": "Hi"})
    async with http.post(url, data=body, headers=door.bearer) as answer:
        names = {name.lower() for name in answer.headers}
    assert {"x-request-id", "x-ratelimit-remaining-requests"} <= names
    assert not {"set-cookie", "openai-organization"} & names


@pytest.mark.parametrize("path", ["files", "models", "responses/resp_1", "images/generations"])
async def test_nothing_else_of_the_api_is_served(
    door: Door, model: ModelServer, http: ClientSession, path: str
) -> None:
    async with http.post(f"{door.url}/model/openai/v1/{path}", headers=door.bearer) as answer:
        assert answer.status == 404
    assert not model.got
