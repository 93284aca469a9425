"""What becomes of a model call when its provider misbehaves, in each dialect."""

import asyncio
import gzip
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import orjson
import pytest
from aiohttp import ClientSession, web

from entrance.ports import Usage
from tests.servers import anthropic, google, openai
from tests.servers.anthropic import KEY, MODEL, Answer, ModelServer
from tests.servers.door import RUN, SECRETS, Door, open_door
from tests.waiting import until

HELLO = {"model": MODEL, "max_tokens": 1000, "messages": [{"role": "user", "content": "Hi"}]}


@dataclass(frozen=True)
class Case:
    """A request for a stream; how the stream begins, and how its last event does when it is cut.

    `failure`: an event that tells of an error, with the key, and the `trouble` that it is. `stop`:
    the status after which its harness does not try again.
    """

    path: str
    body: dict[str, Any]
    begun: list[bytes]
    end: str
    failure: bytes
    trouble: str
    stop: int = 403


def event(name: str, **told: Any) -> bytes:
    """One of a stream's events."""
    return (f"event: {name}\n".encode() if name else b"") + b"data: " + orjson.dumps(told) + b"\n\n"


SLOW = f"slow down, {KEY}"


STREAMS = [
    pytest.param(
        Case(
            "anthropic/v1/messages", HELLO | {"stream": True}, anthropic.events(["x" * 400])[:4],
            "event: error\ndata: ",
            event("error", type="error", error={"type": "overloaded_error", "message": SLOW}),
            "overloaded",
        ),
        id="anthropic",
    ),
    pytest.param(
        Case(
            "openai/v1/responses", {"model": openai.MODEL, "input": "Hi", "stream": True},
            openai.response_events(["x" * 400])[:4], "event: response.failed\ndata: ",
            event("response.failed", type="response.failed", response={
                "error": {"code": "rate_limit_exceeded", "message": SLOW}}),
            "rate_limit", stop=400,
        ),
        id="responses",
    ),
    pytest.param(
        Case(
            "openai/v1/chat/completions", {"model": openai.MODEL, "messages": [], "stream": True},
            openai.chat_chunks(["x" * 400])[:2], "data: [DONE]",
            event("", error={"code": "context_length_exceeded", "message": SLOW}),
            "context_overflow",
        ),
        id="chat",
    ),
    pytest.param(
        Case(
            f"google/v1/models/{google.MODEL}:streamGenerateContent?alt=sse", {"contents": []},
            google.chunks(["x" * 400])[:1], 'data: {"error":{"code":502,',
            event("", error={"code": 500, "message": SLOW, "status": "INTERNAL"}), "provider_error",
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


def limit(headers: Mapping[str, str], **more: Any) -> Answer:
    """An answer that says: too many requests."""

    async def answer(_: web.Request) -> web.Response:
        error = {"message": SLOW, **more}
        return web.json_response({"error": error}, status=429, headers=headers)

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
        outcome = door.lines("outcome")[0]
    assert (outcome["result"], outcome["detail"]["trouble"]) == ("stalled", "stalled")
    assert door.meter.usage[RUN].input_tokens > 0


@pytest.mark.parametrize("status", [200, 500])
async def test_a_provider_that_falls_silent_in_what_is_no_stream_is_given_up(
    tmp_path: Path, model: ModelServer, http: ClientSession, status: int
) -> None:
    async def begins(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(status=status, headers={"content-type": "application/json"})
        await response.prepare(request)
        await response.write(b'{"type":')
        await asyncio.Event().wait()
        return response

    model.answer = begins
    async with (
        open_door(tmp_path, model, silence_s=0.2) as door,
        http.post(
            f"{door.url}/model/anthropic/v1/messages",
            json=HELLO | {"stream": True},
            headers=door.bearer,
        ) as answer,
    ):
        assert (answer.status, "fell silent" in await answer.text()) == (502, True)


@every_dialect
async def test_a_stream_that_just_ends_has_broken_off(
    door: Door, model: ModelServer, http: ClientSession, case: Case
) -> None:
    model.answer = anthropic.streaming(case.begun)
    async with http.post(
        f"{door.url}/model/{case.path}", json=case.body, headers=door.bearer
    ) as answer:
        assert last_event(await answer.text()).startswith(case.end)
    await until(lambda: bool(door.lines("outcome")))
    assert door.lines("outcome")[0]["detail"]["trouble"] == "cut"


@every_dialect
async def test_an_error_in_the_middle_of_a_stream_is_in_the_record_without_the_key(
    door: Door, model: ModelServer, http: ClientSession, case: Case
) -> None:
    model.answer = anthropic.streaming([*case.begun, case.failure])
    async with http.post(
        f"{door.url}/model/{case.path}", json=case.body, headers=door.bearer
    ) as answer:
        text = await answer.text()
    assert text.count("slow down") == 1, "the provider's own words go on, once"
    assert KEY not in text
    await until(lambda: bool(door.lines("outcome")))
    outcome = door.lines("outcome")[0]
    assert outcome["result"] == "provider_error"
    told = (outcome["detail"]["trouble"], outcome["detail"]["message"])
    assert told == (case.trouble, "slow down, [redacted]")


@every_dialect
@pytest.mark.parametrize("status", [401, 402, 403])
async def test_a_key_that_is_refused_is_the_end_and_a_matter_for_an_operator(
    door: Door, model: ModelServer, http: ClientSession, case: Case, status: int
) -> None:
    """CASE-101: what each harness does not try again after."""

    async def refused(_: web.Request) -> web.Response:
        error = {"message": f"not paid: {KEY}", "type": "x", "code": "y", "status": "Z"}
        return web.json_response({"error": error}, status=status)

    model.answer = refused
    async with http.post(
        f"{door.url}/model/{case.path}", json=case.body, headers=door.bearer
    ) as answer:
        assert answer.status == case.stop
        said = (await answer.json())["error"]["message"]
    assert said.endswith("an operator has to look at it. It says: not paid: [redacted]")
    detail = door.lines("outcome")[0]["detail"]
    told = (detail["trouble"], detail["status"], detail["message"])
    assert told == ("credential", status, "not paid: [redacted]")


@every_dialect
async def test_a_missing_key_is_the_end_and_a_matter_for_an_operator(
    door: Door, model: ModelServer, http: ClientSession, case: Case
) -> None:
    await door.secrets.delete(SECRETS[case.path.partition("/")[0]])
    async with http.post(
        f"{door.url}/model/{case.path}", json=case.body, headers=door.bearer
    ) as answer:
        assert answer.status == case.stop
        assert "an operator" in (await answer.json())["error"]["message"]
    detail = door.lines("outcome")[0]["detail"]
    assert (detail["trouble"], detail["status"]) == ("credential", 0)
    assert not model.got


@every_dialect
async def test_no_money_is_the_end(
    door: Door, model: ModelServer, http: ClientSession, case: Case
) -> None:
    """CASE-101: what each harness does not try again after."""
    door.meter.usage[RUN] = Usage(cost_usd=Decimal(1))
    async with http.post(
        f"{door.url}/model/{case.path}", json=case.body, headers=door.bearer
    ) as answer:
        assert answer.status == case.stop
        assert "budget" in (await answer.json())["error"]["message"]
    assert not model.got


@pytest.mark.parametrize(
    ("headers", "body", "told"),
    [
        ({"retry-after": "7"}, {}, "7"),
        ({"retry-after": "Fri, 31 Dec 2027 23:59:59 GMT"}, {}, "Fri, 31 Dec 2027 23:59:59 GMT"),
        ({"retry-after": "7", "retry-after-ms": "6500"}, {}, "6.5"),
        ({}, {"details": [{"@type": "RetryInfo", "retryDelay": "34.5s"}]}, "34.5"),
    ],
)
async def test_when_to_ask_again_is_in_the_record_wherever_it_is_told(
    door: Door,
    model: ModelServer,
    http: ClientSession,
    *,
    headers: dict[str, str],
    body: dict[str, Any],
    told: str,
) -> None:
    model.answer = limit(headers, **body)
    url = f"{door.url}/model/google/v1/models/{google.MODEL}:generateContent"
    async with http.post(url, json={"contents": []}, headers=door.bearer) as answer:
        assert answer.status == 429
    detail = door.lines("outcome")[0]["detail"]
    assert (detail["trouble"], detail["retry_after"]) == ("rate_limit", told)


@every_dialect
async def test_a_limit_that_lifts_late_is_the_end(
    door: Door, model: ModelServer, http: ClientSession, case: Case
) -> None:
    """CASE-97."""
    model.answer = limit({"retry-after": "3600"})
    async with http.post(
        f"{door.url}/model/{case.path}", json=case.body, headers=door.bearer
    ) as answer:
        assert answer.status == case.stop
        said = (await answer.json())["error"]["message"]
    assert said == "The provider's limit lifts in 3600 s; end here. It says: slow down, [redacted]"
    detail = door.lines("outcome")[0]["detail"]
    assert (detail["trouble"], detail["status"]) == ("rate_limit", 429)
    assert detail["retry_after"] == "3600"


@pytest.mark.parametrize(
    ("headers", "shown"),
    [
        ({}, "10"),
        ({"retry-after": "600"}, "600"),
        ({"retry-after-ms": "6500"}, "7"),
        ({"retry-after": "soon"}, "soon"),
    ],
)
async def test_a_limit_always_says_when_to_ask_again(
    door: Door, model: ModelServer, http: ClientSession, headers: dict[str, str], shown: str
) -> None:
    model.answer = limit(headers)
    url = f"{door.url}/model/openai/v1/responses"
    body = {"model": openai.MODEL, "input": "Hi"}
    async with http.post(url, json=body, headers=door.bearer) as answer:
        assert (answer.status, answer.headers["retry-after"]) == (429, shown)


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
