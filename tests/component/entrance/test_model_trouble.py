"""What becomes of a model call when its provider misbehaves, in each dialect."""

import asyncio
import gzip
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import pytest
from aiohttp import ClientSession, web

from tests.servers import anthropic, google, openai
from tests.servers.anthropic import KEY, MODEL, Answer, ModelServer
from tests.servers.door import RUN, Door, open_door
from tests.waiting import until

HELLO = {"model": MODEL, "max_tokens": 1000, "messages": [{"role": "user", "content": "Hi"}]}


@dataclass(frozen=True)
class Case:
    """A request for a stream, how the stream begins, and how its last event does when it is cut."""

    path: str
    body: dict[str, Any]
    begun: list[bytes]
    end: str


STREAMS = [
    pytest.param(
        Case(
            "anthropic/v1/messages", HELLO | {"stream": True}, anthropic.events(["x" * 400])[:4],
            "event: error\ndata: ",
        ),
        id="anthropic",
    ),
    pytest.param(
        Case(
            "openai/v1/responses", {"model": openai.MODEL, "input": "Hi", "stream": True},
            openai.response_events(["x" * 400])[:4], "event: response.failed\ndata: ",
        ),
        id="responses",
    ),
    pytest.param(
        Case(
            "openai/v1/chat/completions", {"model": openai.MODEL, "messages": [], "stream": True},
            openai.chat_chunks(["x" * 400])[:2], "data: [DONE]",
        ),
        id="chat",
    ),
    pytest.param(
        Case(
            f"google/v1/models/{google.MODEL}:streamGenerateContent?alt=sse", {"contents": []},
            google.chunks(["x" * 400])[:1], 'data: {"error":{"code":502,',
        ),
        id="gemini",
    ),
]  # fmt: skip
every_dialect = pytest.mark.parametrize("case", STREAMS)


def opening(events: Sequence[bytes], *, abort: bool) -> Answer:
    """An answer that begins like this, and then breaks off, or says nothing more."""

    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        await response.write(b"".join(events))
        if abort:
            await asyncio.sleep(0.05)  # let it leave: what is aborted is not sent
            assert request.transport is not None
            request.transport.abort()
        else:
            await asyncio.Event().wait()
        return response

    return answer


def last_event(text: str) -> str:
    return text.replace("\r\n", "\n").rstrip("\n").rpartition("\n\n")[2]


@every_dialect
async def test_a_stream_that_breaks_off_ends_well_formed_and_is_counted_by_its_length(
    door: Door,
    model: ModelServer,
    http: ClientSession,
    case: Case,
) -> None:
    model.answer = opening(case.begun, abort=True)
    async with http.post(
        f"{door.url}/model/{case.path}", json=case.body, headers=door.bearer
    ) as answer:
        assert last_event(await answer.text()).startswith(case.end)
    await until(lambda: bool(door.lines("outcome")))
    outcome = door.lines("outcome")[0]
    assert (outcome["result"], outcome["detail"]["estimated"]) == ("broke_off", True)
    assert door.meter.usage[RUN].output_tokens == 100


@every_dialect
async def test_a_client_that_leaves_pays_for_what_it_was_sent(
    door: Door,
    model: ModelServer,
    http: ClientSession,
    case: Case,
) -> None:
    model.answer = opening(case.begun, abort=False)
    async with http.post(
        f"{door.url}/model/{case.path}", json=case.body, headers=door.bearer
    ) as answer:
        seen = b""
        while b"xxx" not in seen:
            seen += await answer.content.readany()
        answer.close()
    await until(lambda: bool(door.lines("outcome")))
    assert door.lines("outcome")[0]["result"] == "client_left"
    assert door.meter.usage[RUN].output_tokens == 100


@every_dialect
async def test_a_provider_that_falls_silent_is_given_up(
    tmp_path: Path,
    model: ModelServer,
    http: ClientSession,
    case: Case,
) -> None:
    model.answer = opening(case.begun, abort=False)
    async with open_door(tmp_path, model, silence_s=0.2) as door:
        async with http.post(
            f"{door.url}/model/{case.path}", json=case.body, headers=door.bearer
        ) as answer:
            assert last_event(await answer.text()).startswith(case.end)
        await until(lambda: bool(door.lines("outcome")))
        assert door.lines("outcome")[0]["result"] == "broke_off"
    assert door.meter.usage[RUN].input_tokens > 0


@pytest.mark.parametrize("packing", ["gzip", "br"])
async def test_a_packed_error_does_not_smuggle_the_key(
    door: Door, model: ModelServer, http: ClientSession, packing: str
) -> None:
    async def packed(_: web.Request) -> web.Response:
        body = orjson.dumps({"error": {"type": "overloaded_error", "message": f"you sent {KEY}"}})
        headers = {"content-encoding": packing, "content-type": "application/json"}
        return web.Response(status=529, body=gzip.compress(body), headers=headers)

    model.answer = packed
    url = f"{door.url}/model/anthropic/v1/messages"
    async with http.post(url, json=HELLO, headers=door.bearer) as answer:
        assert answer.status == 529
        assert "content-encoding" not in answer.headers
        said = (await answer.json())["error"]["message"]
    assert said == ("you sent [redacted]" if packing == "gzip" else "The provider answered 529.")
