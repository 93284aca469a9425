"""What becomes of a model's stream when something goes wrong on either side of the door."""

import asyncio
from decimal import Decimal

import anthropic
import pytest
from aiohttp import ClientSession, web

from tests.servers.anthropic import MODEL, ModelServer, events, streaming
from tests.servers.door import RUN, Door
from tests.waiting import until

HELLO = {
    "model": MODEL,
    "max_tokens": 20,
    "stream": True,
    "messages": [{"role": "user", "content": "Hi"}],
}


def url_of(door: Door) -> str:
    return f"{door.url}/model/anthropic/v1/messages"


@pytest.mark.parametrize("size", [1, 7, 64, 10_000])
async def test_a_stream_arrives_byte_for_byte_however_it_is_cut_into_chunks(
    door: Door, model: ModelServer, http: ClientSession, size: int
) -> None:
    whole = b"".join(events())
    model.answer = streaming([whole[at : at + size] for at in range(0, len(whole), size)])
    async with http.post(url_of(door), json=HELLO, headers=door.bearer) as answer:
        assert await answer.read() == whole
    await until(lambda: bool(door.lines("outcome")))
    assert door.meter.usage[RUN].output_tokens == 10


async def test_events_arrive_while_the_stream_is_still_open(
    door: Door, model: ModelServer, http: ClientSession
) -> None:
    seen = asyncio.Event()

    async def waits(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        first, *others = events()
        await response.write(first)
        await seen.wait()
        for event in others:
            await response.write(event)
        return response

    model.answer = waits
    async with http.post(url_of(door), json=HELLO, headers=door.bearer) as answer:
        async with asyncio.timeout(5):
            assert b"message_start" in await answer.content.readany()
        seen.set()
        assert b"message_stop" in await answer.content.read()


async def test_a_stream_that_passes_the_cap_is_cut_with_a_well_formed_end(
    door: Door, model: ModelServer, http: ClientSession
) -> None:
    door.reopen(budget_usd=Decimal("0.001"))
    model.answer = streaming(events(["word " * 200] * 50)[:-3])
    async with http.post(url_of(door), json=HELLO, headers=door.bearer) as answer:
        text = await answer.text()
    assert "message_stop" not in text
    last = text.rstrip("\n").rpartition("\n\n")[2]
    assert last.startswith("event: error\ndata: {")
    assert "budget" in last
    await until(lambda: bool(door.lines("outcome")))
    assert door.lines("outcome")[0]["result"] == "cut_at_budget"
    assert door.meter.usage[RUN].cost_usd >= Decimal("0.001")
    async with http.post(url_of(door), json=HELLO, headers=door.bearer) as answer:
        assert answer.status == 403


async def test_the_sdk_reports_a_cut_stream_as_an_error(door: Door, model: ModelServer) -> None:
    door.reopen(budget_usd=Decimal("0.001"))
    model.answer = streaming(events(["word " * 200] * 50)[:-3])
    sdk = anthropic.AsyncAnthropic(
        base_url=f"{door.url}/model/anthropic", auth_token=door.token, max_retries=0
    )
    async with sdk:
        with pytest.raises(anthropic.APIStatusError, match="budget"):
            async with sdk.messages.stream(
                model=MODEL, max_tokens=20, messages=[{"role": "user", "content": "Hi"}]
            ) as stream:
                await stream.get_final_message()


async def test_a_stream_that_the_provider_breaks_off_ends_with_an_error_and_is_counted(
    door: Door, model: ModelServer, http: ClientSession
) -> None:
    async def breaks(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        for event in events(["x" * 400])[:4]:
            await response.write(event)
        await asyncio.sleep(0)
        assert request.transport is not None
        request.transport.abort()
        return response

    model.answer = breaks
    async with http.post(url_of(door), json=HELLO, headers=door.bearer) as answer:
        text = await answer.text()
    assert '"api_error"' in text
    await until(lambda: bool(door.lines("outcome")))
    outcome = door.lines("outcome")[0]
    assert outcome["result"] == "broke_off"
    assert outcome["detail"]["estimated"] is True
    assert door.meter.usage[RUN].input_tokens == 100


async def test_a_client_that_leaves_pays_for_what_it_has_seen_and_the_provider_is_hung_up_on(
    door: Door, model: ModelServer, http: ClientSession
) -> None:
    hung_up = asyncio.Event()

    async def endless(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        try:
            for event in events(["x" * 400])[:4]:
                await response.write(event)
            await asyncio.Event().wait()
        finally:
            hung_up.set()
        return response

    model.answer = endless
    async with http.post(url_of(door), json=HELLO, headers=door.bearer) as answer:
        seen = b""
        while b"xxx" not in seen:
            seen += await answer.content.readany()
        answer.close()
    async with asyncio.timeout(5):
        await hung_up.wait()
    await until(lambda: bool(door.lines("outcome")))
    outcome = door.lines("outcome")[0]
    assert outcome["result"] == "client_left"
    assert outcome["detail"]["output_tokens"] == 100, "400 bytes, four to a token"
    assert door.meter.usage[RUN].output_tokens == 100


async def test_a_client_that_leaves_before_any_usage_pays_for_its_request(
    door: Door, model: ModelServer, http: ClientSession
) -> None:
    arrived = asyncio.Event()

    async def silent(_: web.Request) -> web.StreamResponse:
        arrived.set()
        await asyncio.Event().wait()
        raise AssertionError

    model.answer = silent
    body = HELLO | {"messages": [{"role": "user", "content": "x" * 4000}]}
    async with asyncio.TaskGroup() as tasks:
        asking = tasks.create_task(ask(http, door, body))
        async with asyncio.timeout(5):
            await arrived.wait()
        asking.cancel()
    await until(lambda: bool(door.lines("outcome")))
    assert door.lines("outcome")[0]["result"] == "cancelled"
    assert door.meter.usage[RUN].input_tokens >= 1000


async def ask(http: ClientSession, door: Door, body: dict[str, object]) -> None:
    async with http.post(url_of(door), json=body, headers=door.bearer) as answer:
        await answer.read()


async def test_a_long_stream_is_relayed_in_flat_steps(
    door: Door, model: ModelServer, http: ClientSession
) -> None:
    model.answer = streaming(events(["tok"] * 5000, output_tokens=5000))
    async with http.post(url_of(door), json=HELLO, headers=door.bearer) as answer:
        body = await answer.read()
    assert body.count(b"content_block_delta\n") == 5000
    await until(lambda: bool(door.lines("outcome")))
    assert door.meter.usage[RUN].output_tokens == 5000


async def test_a_client_that_leaves_while_its_call_is_counted_is_counted_all_the_same(
    door: Door, model: ModelServer, http: ClientSession
) -> None:
    door.meter.gate = asyncio.Event()
    model.answer = streaming(events())
    async with http.post(url_of(door), json=HELLO, headers=door.bearer) as answer:
        while b"message_stop" not in await answer.content.readany():
            pass
        answer.close()
    await asyncio.sleep(0.1)  # the door hears that nobody is there
    assert not door.lines("outcome")
    door.meter.gate.set()
    await until(lambda: bool(door.lines("outcome")))
    assert door.meter.usage[RUN].output_tokens == 10
