"""What the server says of what it served, and who may ask."""

import asyncio

import httpx2
import pytest

from tests.component.scripted.asking import QUESTIONS
from tests.component.scripted.serving import served

USAGE = (
    "{input_tokens: 10, output_tokens: 7, cache_read_tokens: 5, cache_write_tokens: 3,"
    " reasoning_tokens: 2}"
)
SCENARIO = (
    "scenario: 1\n"
    f"conversations: [{{name: a, steps: [{{fail: 500, times: 1}}, {{say: x, usage: {USAGE}}}]}}]"
)


def counts(**more: int) -> dict[str, int]:
    kinds = ("input", "output", "cache_read", "cache_write", "reasoning")
    return {"answers": 0, "unfinished": 0, **{f"{kind}_tokens": 0 for kind in kinds}, **more}


TOKENS = {
    "input_tokens": 10,
    "output_tokens": 7,
    "cache_read_tokens": 5,
    "cache_write_tokens": 3,
    "reasoning_tokens": 2,
}


@pytest.mark.parametrize("dialect", QUESTIONS)
@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
async def test_what_was_served_is_counted_until_it_is_reset(dialect: str, stream: bool) -> None:  # noqa: FBT001 - a table
    """What a dialect can't tell apart isn't counted apart: Gemini says nothing of writing to the cache."""
    told = (
        {**TOKENS, "input_tokens": 13, "cache_write_tokens": 0} if dialect == "gemini" else TOKENS
    )
    path, body = QUESTIONS[dialect].asked(stream=stream)
    async with served(SCENARIO) as url, httpx2.AsyncClient(base_url=url) as client:
        for status in (500, 200):
            assert (await client.post(path, json=body)).status_code == status
        expected = counts(answers=1, unfinished=1, **told)
        found = (await client.get("/served")).json()
        assert found == {"models": {"m": expected}, "total": expected}
        assert (await client.delete("/served")).json() == {"models": {}, "total": counts()}
        assert (await client.get("/served")).json()["models"] == {}
        assert (await client.put("/served")).status_code == 405


async def test_answers_can_be_looked_at_one_by_one_by_what_they_captured() -> None:
    scenario = (
        "scenario: 1\nconversations: [{name: a, capture: {item: '(T-.)'}, steps: [{say: x}]}]"
    )
    async with served(scenario) as url, httpx2.AsyncClient(base_url=url) as client:
        for words in ("T-1", "T-2", "nothing"):
            await client.post("/v1/responses", json={"model": "m", "input": words})
        both = (await client.get("/served/answers")).json()["answers"]
        (one,) = (await client.get("/served/answers?item=T-2")).json()["answers"]
        total = (await client.get("/served")).json()["total"]
    assert [each["names"] for each in both] == [{"item": "T-1"}, {"item": "T-2"}, {}]
    told = {"conversation": "a", "prompt": 1, "whole": True, "model": "m"}
    assert told.items() <= one.items()
    assert sum(each["input_tokens"] for each in both) == total["input_tokens"]


async def test_what_a_client_left_is_billed_as_far_as_it_got() -> None:
    scenario = (
        "scenario: 1\nconversations: [{name: a, steps: [{say: one two three, stream_s: 60}]}]"
    )
    path, body = QUESTIONS["anthropic"].streamed
    async with served(scenario) as url, httpx2.AsyncClient(base_url=url) as client:
        async with client.stream("POST", path, json=body) as answer:
            await anext(answer.aiter_bytes())
        left: list[dict[str, int]] = []
        async with asyncio.timeout(10):
            while not left:
                left = (await client.get("/served/answers")).json()["answers"]
    assert (left[0]["whole"], left[0]["input_tokens"] > 0, left[0]["output_tokens"]) == (
        False,
        True,
        0,
    )


@pytest.mark.parametrize(
    ("headers", "query"),
    [
        ({"Authorization": "Bearer real"}, ""),
        ({"x-api-key": "real"}, ""),
        ({"x-goog-api-key": "real"}, ""),
        ({}, "key=real"),
    ],
)
@pytest.mark.parametrize("dialect", QUESTIONS)
async def test_the_key_is_found_wherever_clients_put_it(
    dialect: str, headers: dict[str, str], query: str
) -> None:
    path, body = QUESTIONS[dialect].whole
    async with served(SCENARIO, api_key="real") as url, httpx2.AsyncClient(base_url=url) as client:
        for at in (path, "/served"):
            wrong = {name: f"{value}ly" for name, value in headers.items()}
            refused = await client.request(
                "POST" if at == path else "GET",
                f"{at}?{query and query + 'ly'}",
                headers=wrong,
                json=body,
            )
            assert refused.status_code == 401
            assert "the key is not the one" in refused.json()["error"]["message"]
        await client.post(f"{path}?{query}", headers=headers, json=body)
        counted = await client.get(f"/served?{query}", headers=headers)
        assert counted.json()["total"]["unfinished"] == 1
