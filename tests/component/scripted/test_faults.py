"""What goes wrong on demand, in every dialect, as it comes over the wire."""

import asyncio
import contextlib
import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from time import monotonic

import anthropic
import httpx2
import openai
import pytest
from google import genai
from google.genai import errors, types

from tests.component.scripted.asking import QUESTIONS
from tests.component.scripted.serving import served

every_dialect = pytest.mark.parametrize("dialect", QUESTIONS)
both_ways = pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])


def scenario(*steps: str) -> str:
    return f"scenario: 1\nconversations: [{{name: a, steps: [{', '.join(steps)}]}}]"


@asynccontextmanager
async def asking(text: str) -> AsyncIterator[httpx2.AsyncClient]:
    async with served(text) as url, httpx2.AsyncClient(base_url=url, timeout=30) as client:
        yield client


async def ask(client: httpx2.AsyncClient, dialect: str, *, stream: bool) -> httpx2.Response:
    path, body = QUESTIONS[dialect].asked(stream=stream)
    return await client.post(path, json=body)


RETRY = scenario("{fail: 429, times: 1, retry_after_s: 2.5, message: slow down}", "{say: ok}")


async def test_anthropics_sdk_knows_a_failure() -> None:
    async with served(RETRY) as url, anthropic.AsyncAnthropic(base_url=url, api_key="k") as sdk:
        once = sdk.with_options(max_retries=0)
        with pytest.raises(anthropic.RateLimitError, match="slow down") as caught:
            await once.messages.create(**QUESTIONS["anthropic"].whole[1])
        assert caught.value.response.headers["retry-after"] == "2.5"


@pytest.mark.parametrize("dialect", ["responses", "chat"])
async def test_openais_sdk_knows_a_failure(dialect: str) -> None:
    async with served(RETRY) as url, openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="k") as sdk:
        once = sdk.with_options(max_retries=0)
        create = once.responses.create if dialect == "responses" else once.chat.completions.create
        with pytest.raises(openai.RateLimitError, match="slow down") as caught:
            await create(**QUESTIONS[dialect].whole[1])
        assert caught.value.code == "rate_limit_exceeded"
        assert caught.value.response.headers["retry-after"] == "2.5"


async def test_googles_sdk_knows_a_failure() -> None:
    async with served(RETRY) as url, httpx2.AsyncClient() as http:
        options = types.HttpOptions(base_url=url, httpx_async_client=http)
        async with genai.Client(api_key="k", vertexai=False, http_options=options).aio as sdk:
            with pytest.raises(errors.ClientError, match="slow down") as caught:
                await sdk.models.generate_content(model="m", contents="go")
    assert (caught.value.code, caught.value.status) == (429, "RESOURCE_EXHAUSTED")
    assert caught.value.details["error"]["details"][0]["retryDelay"] == "2.5s"


@pytest.mark.parametrize(
    ("dialect", "says"),
    [
        ("anthropic", "prompt is too long: "),
        ("responses", "context_length_exceeded"),
        ("chat", "context_length_exceeded"),
        ("gemini", "exceeds the maximum number of tokens allowed"),
    ],
)
async def test_a_prompt_that_is_too_long_is_refused_in_the_providers_words(
    dialect: str, says: str
) -> None:
    async with asking(scenario("{fail: overflow}")) as client:
        answer = await ask(client, dialect, stream=True)
    assert answer.status_code == 400
    assert says in json.dumps(answer.json()["error"])


@every_dialect
@both_ways
async def test_a_cut_answer_breaks_in_the_middle_and_the_next_is_whole(
    dialect: str,
    stream: bool,  # noqa: FBT001 - a table
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.WARNING)
    async with asking(scenario("{fail: cut, times: 1}", "{say: one two three}")) as client:
        with pytest.raises(httpx2.TransportError):
            await ask(client, dialect, stream=stream)
        answer = await ask(client, dialect, stream=stream)
    assert (answer.status_code, "three" in answer.text) == (200, True)
    assert caplog.records == []


@every_dialect
@both_ways
async def test_a_stalled_answer_goes_on_after_its_time(dialect: str, stream: bool) -> None:  # noqa: FBT001 - a table
    async with asking(scenario("{fail: stall, stall_s: 0.3}", "{say: one two three}")) as client:
        path, body = QUESTIONS[dialect].asked(stream=stream)
        async with client.stream("POST", path, json=body) as answer:
            parts = [(monotonic(), part) async for part in answer.aiter_bytes()]
    assert parts[-1][0] - parts[0][0] > 0.2, "what came first came before the stall"
    assert b"three" in b"".join(part for _, part in parts)


@every_dialect
async def test_an_answer_can_stall_for_ever(dialect: str) -> None:
    path, body = QUESTIONS[dialect].streamed
    async with asking(scenario("{fail: stall}", "{say: one two three}")) as client:
        async with client.stream("POST", path, json=body) as answer:
            parts = answer.aiter_bytes()
            begun = [await anext(parts)]
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(0.3):
                    begun += [part async for part in parts]
        assert b"three" not in b"".join(begun)
        assert (await client.get("/served")).json()["total"]["unfinished"] == 1


@every_dialect
async def test_garbage_is_no_json(dialect: str) -> None:
    async with asking(scenario("{fail: garbage}", "{say: one two three}")) as client:
        streamed = await ask(client, dialect, stream=True)
        whole = await ask(client, dialect, stream=False)
    last = streamed.text.strip().splitlines()[-1]
    assert len(streamed.text.split("data: ")) > 2, "some events are well-formed"
    for text in (last.removeprefix("data: "), whole.text):
        with pytest.raises(json.JSONDecodeError):
            json.loads(text)


@every_dialect
@both_ways
async def test_an_empty_answer_is_a_success_without_a_byte(dialect: str, stream: bool) -> None:  # noqa: FBT001 - a table
    async with asking(scenario("{fail: empty}", "{say: x}")) as client:
        answer = await ask(client, dialect, stream=stream)
    assert (answer.status_code, answer.content) == (200, b"")


@every_dialect
@both_ways
async def test_an_answer_can_be_huge_and_is_counted(dialect: str, stream: bool) -> None:  # noqa: FBT001 - a table
    async with asking(scenario("{say: much, padding: 3000000}")) as client:
        answer = await ask(client, dialect, stream=stream)
        counted = (await client.get("/served")).json()["total"]
    assert len(answer.content) > 3_000_000
    assert answer.text.count("data: ") < 2500, "bytes, not events"
    assert counted["output_tokens"] == 3_000_004 // 4


@every_dialect
async def test_tokens_can_come_slowly(dialect: str) -> None:
    async with asking(scenario("{say: one two three, stream_s: 0.4}")) as client:
        begun = monotonic()
        answer = await ask(client, dialect, stream=True)
    assert "three" in answer.text
    assert monotonic() - begun > 0.3
