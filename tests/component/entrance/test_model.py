"""The model gateway between the Anthropic SDK and a small real server."""

from decimal import Decimal
from io import BytesIO
from typing import Any

import anthropic
import orjson
import pytest
from aiohttp import ClientSession, web

from entrance.ports import Usage
from tests.servers.anthropic import KEY, MODEL, ModelServer, events, message, streaming
from tests.servers.door import RUN, Door

COST = Decimal("0.000725")
"""100 in, 10 out, 50 read, 15 written for 5 minutes, 5 for an hour: what the server says it used."""

HELLO: dict[str, Any] = {
    "model": MODEL,
    "max_tokens": 20,
    "messages": [{"role": "user", "content": "Hi"}],
}


def client(door: Door, retries: int = 0) -> anthropic.AsyncAnthropic:
    return anthropic.AsyncAnthropic(
        base_url=f"{door.url}/model/anthropic", auth_token=door.token, max_retries=retries
    )


async def say_hello(door: Door) -> anthropic.types.Message:
    async with client(door) as sdk:
        return await sdk.messages.create(
            model=MODEL, max_tokens=20, messages=[{"role": "user", "content": "Hi"}]
        )


async def test_a_call_goes_on_with_the_real_key_and_without_the_run_token(
    door: Door, model: ModelServer
) -> None:
    answer = await say_hello(door)
    assert answer.content[0].type == "text"
    got = model.got[0]
    assert got.headers["x-api-key"] == KEY
    assert "authorization" not in got.headers
    assert door.token not in str(got)
    assert got.headers["accept-encoding"] == "identity"
    assert not [name for name in got.headers if name.startswith("x-stainless")]


async def test_usage_is_priced_and_added_to_the_runs_spending(door: Door) -> None:
    await say_hello(door)
    assert door.meter.usage[RUN] == Usage(100, 10, 50, 20, COST, 1)
    decided, came = door.lines("model_call")[0], door.lines("outcome")[0]
    assert (decided["decision"], decided["subject"]) == ("allow", f"anthropic:{MODEL}")
    assert (came["of"], came["result"], came["detail"]["status"]) == (decided["seq"], "ok", 200)
    assert came["detail"]["cost_usd"] == "0.000725"
    assert came["detail"]["request_id"] == "req_1"


async def test_what_went_over_the_wire_is_on_record(door: Door, model: ModelServer) -> None:
    await say_hello(door)
    decided, came = door.lines("model_call")[0], door.lines("outcome")[0]
    assert decided["url"] == f"{model.url}/v1/messages"
    assert (decided["method"], decided["host"]) == ("POST", "127.0.0.1")
    assert came["bytes_out"] == int(model.got[0].headers["content-length"])
    assert came["status"] == 200
    assert len(came["request_sha256"]) == 64
    assert came["bytes_in"] > 100
    assert len(came["response_sha256"]) == 64


async def test_a_stream_is_relayed_and_metered_by_its_own_last_word(
    door: Door, model: ModelServer
) -> None:
    """CASE-103: streaming and not are both served."""
    model.answer = streaming(events())
    async with (
        client(door) as sdk,
        sdk.messages.stream(
            model=MODEL, max_tokens=20, messages=[{"role": "user", "content": "Hi"}]
        ) as stream,
    ):
        text = "".join([piece async for piece in stream.text_stream])
    assert text == "Hello."
    assert door.meter.usage[RUN] == Usage(100, 10, 50, 20, COST, 1)


async def test_a_message_with_the_role_system_goes_on_as_it_is(
    door: Door, model: ModelServer, http: ClientSession
) -> None:
    """CASE-104: messages with `role:"system"` in `messages` are passed."""
    body = HELLO | {"messages": [{"role": "system", "content": "env\ud7ff"}, *HELLO["messages"]]}
    url = f"{door.url}/model/anthropic/v1/messages?beta=true&more=zzz"
    async with http.post(url, json=body, headers=door.bearer) as answer:
        assert answer.status == 200
    assert model.got[0].body == body
    assert model.got[0].path == "/v1/messages?beta=true"


async def test_only_named_headers_come_back(door: Door, http: ClientSession) -> None:
    url = f"{door.url}/model/anthropic/v1/messages"
    async with http.post(url, json=HELLO, headers=door.bearer) as answer:
        assert answer.headers["request-id"] == "req_1"
        assert not {"set-cookie", "anthropic-organization-id"} & {
            name.lower() for name in answer.headers
        }


async def test_a_run_past_its_budget_gets_403_and_the_provider_hears_nothing(
    door: Door, model: ModelServer
) -> None:
    """CASE-101: 403, one request, then the end; never 401."""
    door.meter.usage[RUN] = Usage(cost_usd=Decimal(1))
    async with client(door, retries=3) as sdk:
        with pytest.raises(anthropic.PermissionDeniedError, match="budget"):
            await sdk.messages.create(
                model=MODEL, max_tokens=20, messages=[{"role": "user", "content": "Hi"}]
            )
    assert not model.got
    assert [line["decision"] for line in door.lines("model_call")] == ["deny"]


@pytest.mark.parametrize(
    ("model_name", "said"),
    [
        pytest.param("claude-sonnet-5-5", "not granted", id="a model that was not granted"),
        pytest.param("claude-unheard-of", "no price", id="a granted model without a price"),
    ],
)
async def test_other_models_are_refused_with_the_reason(
    door: Door, http: ClientSession, model_name: str, said: str
) -> None:
    door.reopen(models=frozenset({f"anthropic:{MODEL}", "anthropic:claude-unheard-of"}))
    url = f"{door.url}/model/anthropic/v1/messages"
    async with http.post(url, json=HELLO | {"model": model_name}, headers=door.bearer) as answer:
        body = await answer.json()
    assert answer.status == 403
    assert body["type"] == "error"
    assert body["error"]["type"] == "permission_error"
    assert said in body["error"]["message"]


async def test_a_request_that_would_have_the_provider_reach_out_is_refused_and_recorded(
    door: Door, model: ModelServer, http: ClientSession
) -> None:
    body = HELLO | {"tools": [{"type": "web_search_20250305", "name": "web_search"}]}
    url = f"{door.url}/model/anthropic/v1/messages"
    async with http.post(url, json=body, headers=door.bearer) as answer:
        assert answer.status == 403
    assert not model.got
    assert "web_search" in door.lines("model_call")[0]["reason"]


async def test_counting_tokens_costs_nothing(door: Door, model: ModelServer) -> None:
    async def counted(_: web.Request) -> web.Response:
        return web.json_response({"input_tokens": 7})

    model.answer = counted
    async with client(door) as sdk:
        count = await sdk.messages.count_tokens(
            model=MODEL, messages=[{"role": "user", "content": "Hi"}]
        )
    assert count.input_tokens == 7
    assert RUN not in door.meter.usage


async def test_a_redirect_is_not_followed(
    door: Door, model: ModelServer, http: ClientSession
) -> None:
    async def elsewhere(_: web.Request) -> web.Response:
        return web.Response(status=307, headers={"location": f"{model.url}/stolen"})

    model.answer = elsewhere
    url = f"{door.url}/model/anthropic/v1/messages"
    async with http.post(url, json=HELLO, headers=door.bearer) as answer:
        assert answer.status == 502
        assert "location" not in answer.headers
    assert len(model.got) == 1


async def test_the_providers_errors_come_back_without_the_key(
    door: Door, model: ModelServer, http: ClientSession
) -> None:
    async def overloaded(_: web.Request) -> web.Response:
        text = f"overloaded; you sent {KEY} and sk-ant-another-0123456789"
        body = {"type": "error", "error": {"type": "overloaded_error", "message": text}}
        return web.json_response(body, status=529, headers={"retry-after": "3"})

    model.answer = overloaded
    url = f"{door.url}/model/anthropic/v1/messages"
    async with http.post(url, json=HELLO, headers=door.bearer) as answer:
        text = await answer.text()
    assert answer.status == 529
    assert answer.headers["retry-after"] == "3"
    assert "overloaded_error" in text
    assert "sk-ant" not in text
    assert RUN not in door.meter.usage


async def test_a_key_that_the_provider_refuses_is_told_as_403(
    door: Door, model: ModelServer, http: ClientSession
) -> None:
    """CASE-101: a 401 would be retried for a minute."""
    await door.vault.put(
        "model-key", "sk-ant-wrong-0123", [model.url.removeprefix("http://")], "anthropic"
    )
    url = f"{door.url}/model/anthropic/v1/messages"
    async with http.post(url, json=HELLO, headers=door.bearer) as answer:
        assert answer.status == 403


async def test_a_key_bound_to_another_host_is_not_sent(
    door: Door, model: ModelServer, http: ClientSession
) -> None:
    """CASE-22: no injection unless the dialled host is the one that the secret is bound to."""
    await door.vault.put("model-key", KEY, ["api.anthropic.com"], "anthropic")
    url = f"{door.url}/model/anthropic/v1/messages"
    headers = door.bearer | {"host": "api.anthropic.com"}
    async with http.post(url, json=HELLO, headers=headers) as answer:
        assert answer.status == 403
    assert not model.got
    assert door.lines("outcome")[0]["result"] == "no_key"


async def test_a_provider_that_is_down_is_a_502(
    door: Door, model: ModelServer, http: ClientSession
) -> None:
    async def broken(request: web.Request) -> web.Response:
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    model.answer = broken
    url = f"{door.url}/model/anthropic/v1/messages"
    async with http.post(url, json=HELLO, headers=door.bearer) as answer:
        assert answer.status == 502
    assert door.lines("outcome")[0]["result"] == "broke_off"
    assert RUN not in door.meter.usage


@pytest.mark.parametrize(
    ("path", "status"),
    [
        pytest.param("/model/anthropic/v1/models", 404, id="a path that is not served"),
        pytest.param("/model/other/v1/messages", 404, id="a provider that is not set up"),
        pytest.param("/model/anthropic/v1/../v1/files", 404, id="a path with dots"),
    ],
)
async def test_nothing_else_of_the_api_is_served(
    door: Door, model: ModelServer, http: ClientSession, path: str, status: int
) -> None:
    async with http.post(door.url + path, json=HELLO, headers=door.bearer) as answer:
        assert answer.status == status
    assert not model.got
    assert door.lines()[0]["decision"] == "deny"


async def test_without_its_meter_the_door_is_closed(
    door: Door, model: ModelServer, http: ClientSession
) -> None:
    door.meter.down = True
    url = f"{door.url}/model/anthropic/v1/messages"
    async with http.post(url, json=HELLO, headers=door.bearer) as answer:
        assert answer.status == 503
    assert not model.got


async def test_an_answer_that_can_not_be_counted_is_not_given(
    door: Door, model: ModelServer, http: ClientSession
) -> None:
    async def meter_fails(_: web.Request) -> web.Response:
        door.meter.down = True
        return await message()

    model.answer = meter_fails
    url = f"{door.url}/model/anthropic/v1/messages"
    async with http.post(url, json=HELLO, headers=door.bearer) as answer:
        assert answer.status == 503
    assert door.lines("outcome")[0]["detail"]["counted"] is False


async def test_a_body_that_is_too_large_is_refused(door: Door, http: ClientSession) -> None:
    url = f"{door.url}/model/anthropic/v1/messages"
    body = BytesIO(b" " * ((32 << 20) + 1))
    async with http.post(url, data=body, headers=door.bearer) as answer:
        assert answer.status == 413


async def test_a_large_body_goes_through_whole(
    door: Door, model: ModelServer, http: ClientSession
) -> None:
    door.reopen(budget_usd=Decimal(100))
    body = HELLO | {"messages": [{"role": "user", "content": "x" * (3 << 20)}]}
    url = f"{door.url}/model/anthropic/v1/messages"
    async with http.post(url, data=BytesIO(orjson.dumps(body)), headers=door.bearer) as answer:
        assert answer.status == 200
    assert model.got[0].body == body


async def test_a_body_that_can_not_be_read_is_a_400(door: Door, http: ClientSession) -> None:
    url = f"{door.url}/model/anthropic/v1/messages"
    async with http.post(url, data=b"{", headers=door.bearer) as answer:
        assert answer.status == 400
        assert (await answer.json())["error"]["type"] == "invalid_request_error"


async def test_a_provider_that_nobody_answers_for_is_a_502(
    door: Door, model: ModelServer, http: ClientSession
) -> None:
    assert model.site is not None
    await model.site.stop()
    url = f"{door.url}/model/anthropic/v1/messages"
    async with http.post(url, json=HELLO, headers=door.bearer) as answer:
        assert answer.status == 502
    assert door.lines("outcome")[0]["result"] == "unreachable"
    assert RUN not in door.meter.usage


async def test_a_packed_answer_is_not_passed_on(
    door: Door, model: ModelServer, http: ClientSession
) -> None:
    async def packed(_: web.Request) -> web.Response:
        return web.Response(
            body=b"\x1f\x8b-whatever",
            headers={"content-encoding": "br", "content-type": "application/json"},
        )

    model.answer = packed
    url = f"{door.url}/model/anthropic/v1/messages"
    async with http.post(url, json=HELLO, headers=door.bearer) as answer:
        assert answer.status == 502
