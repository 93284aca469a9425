"""The webhook that is called when a sandbox is frozen."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from entrance.errors import Forbidden, Malformed, SandgateError, Unavailable
from orchestrator.adapters.webhook import ATTEMPTS, Webhook
from tests.fakes.frozen import FROZEN

PATH = "/hook/t0psecret"


@asynccontextmanager
async def hook(*answers: int) -> AsyncIterator[tuple[Webhook, list[Any]]]:
    """A webhook that gives these answers, the last one for good; and what it was told."""
    told: list[Any] = []

    async def take(request: web.Request) -> web.Response:
        told.append(await request.json())
        status = answers[min(len(told), len(answers)) - 1]
        return web.Response(status=status, headers={"location": "/elsewhere"})

    app = web.Application()
    app.router.add_post(PATH, take)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        url = f"http://127.0.0.1:{runner.addresses[0][1]}{PATH}"
        async with aiohttp.ClientSession() as http:
            yield Webhook(http, url, "sg-test", wait_s=0.01), told
    finally:
        await runner.cleanup()


async def test_it_is_told_what_happened_in_words_and_in_fields() -> None:
    async with hook(204) as (webhook, told):
        await webhook.frozen(FROZEN)
    [body] = told
    assert body["event"] == "sandbox_frozen"
    assert (body["installation"], body["run"], body["task"]) == ("sg-test", "r1", "DEMO/DEMO-7")
    assert (body["canary"], body["where"]) == ("aws-secret", "a pushed pack")
    assert "sandgate frozen show r1" in body["text"]


async def test_a_busy_one_is_called_again() -> None:
    async with hook(503, 429, 200) as (webhook, told):
        await webhook.frozen(FROZEN)
    assert len(told) == 3


@pytest.mark.parametrize(
    ("status", "error", "calls"),
    [(500, Unavailable, ATTEMPTS), (403, Forbidden, 1), (404, Malformed, 1), (302, Malformed, 1)],
)
async def test_one_that_does_not_take_it_is_an_error_without_its_secret(
    status: int, error: type[SandgateError], calls: int
) -> None:
    async with hook(status) as (webhook, told):
        with pytest.raises(error) as raised:
            await webhook.frozen(FROZEN)
    assert len(told) == calls
    assert "t0psecret" not in str(raised.value)


async def test_one_that_is_not_there_is_an_error() -> None:
    async with aiohttp.ClientSession() as http:
        with pytest.raises(Unavailable, match="can't be reached"):
            await Webhook(http, f"http://127.0.0.1:9{PATH}", "sg-test", 0.01).frozen(FROZEN)
