"""The answer to a push that takes long to be looked at."""

import asyncio

import aiohttp
from aiohttp import web

from entrance.git.answer import SIGN_OF_LIFE, PushAnswer
from entrance.git.receive_pack import HeadParser, PushHead
from entrance.git.refs import refuse_all
from tests.component.git.matrix.test_heads_by_hand import command
from tests.waiting import until


def head(capabilities: str) -> PushHead:
    found = HeadParser().feed(command(new="1" * 40, capabilities=capabilities) + b"0000")
    assert found is not None
    return found


async def answered(capabilities: str, *, arrives: bool) -> bytes:
    """What a client hears of a push that is looked at for a while, and refused."""

    async def handle(request: web.Request) -> web.StreamResponse:
        pushed, arrived = head(capabilities), asyncio.Event()
        answer = PushAnswer(request, pushed)
        async with answer.kept_alive(arrived, every_s=0.01):
            if arrives:
                arrived.set()
                await until(lambda: answer.relay.came.bytes >= 3 * len(SIGN_OF_LIFE))
        return await answer.refuse(refuse_all(pushed.updates, "no"))

    app = web.Application()
    app.router.add_post("/", handle)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        async with (
            aiohttp.ClientSession() as http,
            http.post(f"http://127.0.0.1:{runner.addresses[0][1]}/") as answer,
        ):
            assert answer.status == 200
            return await answer.read()
    finally:
        await runner.cleanup()


async def test_git_hears_signs_of_life_and_then_the_report() -> None:
    said = await answered("report-status side-band-64k", arrives=True)

    assert said.startswith(3 * SIGN_OF_LIFE)
    assert b"ng refs/heads/" in said
    assert said.endswith(b"0000")


async def test_while_the_push_still_comes_git_hears_nothing() -> None:
    assert SIGN_OF_LIFE not in await answered("report-status side-band-64k", arrives=False)
