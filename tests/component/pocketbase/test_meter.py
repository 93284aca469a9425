import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from decimal import Decimal

import aiohttp
import pytest
from aiohttp import web

from entrance.errors import Unavailable
from entrance.ports import Usage
from entrance.session import Envelope, RunId
from orchestrator.adapters.pocketbase import SUPERUSER
from orchestrator.adapters.pocketbase.client import PocketBase
from orchestrator.adapters.pocketbase.meter import PocketBaseMeter
from orchestrator.adapters.pocketbase.runs import PocketBaseRuns
from orchestrator.stack import pocketbase
from tests.fakes.run import a_run
from tests.servers.pocketbase import PocketBaseServer

CALL = Usage(10, 20, 30, 40, Decimal("0.013"), 1)


async def test_calls_that_end_at_once_are_all_added(store: PocketBase) -> None:
    run = a_run()
    await PocketBaseRuns(store).create(run)
    meter = PocketBaseMeter(store)
    await asyncio.gather(*(meter.add(run.id, CALL) for _ in range(40)), meter.spent(run.id))
    expected = Usage(400, 800, 1200, 1600, Decimal("0.520"), 40)
    assert await meter.spent(run.id) == expected
    assert await PocketBaseRuns(store).usage(run.id) == expected
    assert await PocketBaseRuns(store).engagement_usd(run.engagement) == expected.cost_usd


async def test_what_was_spent_survives_the_process_that_added_it(store: PocketBase) -> None:
    run = a_run().id
    await PocketBaseMeter(store).add(run, CALL)
    later = PocketBaseMeter(store)
    await later.add(run, CALL)
    assert await later.spent(run) == CALL + CALL


async def test_runs_are_added_up_apart(store: PocketBase) -> None:
    meter = PocketBaseMeter(store)
    one, two = a_run().id, a_run().id
    await meter.add(one, CALL)
    assert await meter.spent(two) == Usage()


async def test_a_run_that_the_store_does_not_know_is_metered_all_the_same(
    store: PocketBase,
) -> None:
    meter = PocketBaseMeter(store)
    await meter.add(RunId("nosuchrun000000"), CALL)
    assert await PocketBaseRuns(store).usage(RunId("nosuchrun000000")) == CALL


async def test_an_envelope_is_what_its_runs_have_spent_together(store: PocketBase) -> None:
    runs, meter = PocketBaseRuns(store), PocketBaseMeter(store)
    parent, child, other = a_run(engagement="D/E-7"), a_run(engagement="D/E-8"), a_run()
    grandchild = a_run(engagement="D/E-9")
    for run in (parent, child, other, grandchild):
        await runs.create(run)
    await meter.add(parent.id, CALL)
    await meter.add(parent.id, CALL)
    await meter.add(child.id, CALL, parent.id)
    await meter.add(grandchild.id, CALL, child.id)
    await meter.add(other.id, CALL)
    again = PocketBaseMeter(store)
    nine = Decimal(9)
    envelopes = [
        *(Envelope("engagement", id_, nine) for id_ in ("D/E-7", "D/E-8", "D/none")),
        *(Envelope("run", run.id, nine) for run in (parent, child)),
    ]
    spent = {(one.kind, one.id): await again.spent_of(one) for one in envelopes}
    assert spent == {
        ("engagement", "D/E-7"): 2 * CALL.cost_usd,
        ("engagement", "D/E-8"): CALL.cost_usd,
        ("engagement", "D/none"): 0,
        ("run", parent.id): 4 * CALL.cost_usd,
        ("run", child.id): 2 * CALL.cost_usd,
    }


async def test_nothing_more_is_spent_while_the_store_is_down(
    server: PocketBaseServer, store: PocketBase
) -> None:
    meter = PocketBaseMeter(store, fresh_s=0)
    run = a_run().id
    await meter.add(run, CALL)
    server.stop()
    with pytest.raises(Unavailable):
        await meter.spent(run)
    server.start()
    assert await meter.spent(run) == CALL


async def test_a_store_that_has_just_answered_is_not_asked_again_until_something_fails(
    server: PocketBaseServer, store: PocketBase
) -> None:
    meter = PocketBaseMeter(store, fresh_s=60)
    run = a_run().id
    await meter.add(run, CALL)
    server.stop()
    assert await meter.spent(run) == CALL
    with pytest.raises(Unavailable):
        await meter.add(run, CALL)
    with pytest.raises(Unavailable):
        await meter.spent(run)
    server.start()
    assert await meter.spent(run) == CALL + CALL


async def test_what_is_added_while_the_store_is_down_is_stored_once_it_is_back(
    server: PocketBaseServer, store: PocketBase
) -> None:
    meter = PocketBaseMeter(store)
    run = a_run().id
    server.stop()
    for _ in range(2):
        with pytest.raises(Unavailable):
            await meter.add(run, CALL)
    server.start()
    assert await meter.spent(run) == CALL + CALL
    assert await PocketBaseRuns(store).usage(run) == CALL + CALL


@pytest.mark.parametrize("lost", ["the first", "a later"])
async def test_a_call_whose_answer_was_lost_is_not_counted_twice(
    server: PocketBaseServer, store: PocketBase, lost: str
) -> None:
    run = a_run().id
    async with _link(server) as link:
        meter = PocketBaseMeter(link.client)
        spent = Usage()
        if lost == "a later":
            await meter.add(run, CALL)
            spent += CALL
        link.loses_answers = True
        with pytest.raises(Unavailable):
            await meter.add(run, CALL)
        link.loses_answers = False
        assert await PocketBaseRuns(store).usage(run) == spent + CALL, "it did arrive"
        assert await meter.spent(run) == spent + CALL
    assert await PocketBaseRuns(store).usage(run) == spent + CALL


class _Link:
    """A connection to the store that can lose the answers to what creates usage."""

    def __init__(self, server: PocketBaseServer, http: aiohttp.ClientSession) -> None:
        self.loses_answers = False
        self._server = server
        self._http = http

    def connect(self, port: int) -> None:
        self.client = PocketBase(
            self._http,
            url=f"http://127.0.0.1:{port}",
            user=SUPERUSER,
            password=pocketbase.password(self._server.home),
        )

    async def forward(self, request: web.Request) -> web.Response:
        headers = {
            key: request.headers[key]
            for key in ("Content-Type", "Authorization")
            if key in request.headers
        }
        async with self._http.request(
            request.method,
            self._server.url + request.path_qs,
            data=await request.read(),
            headers=headers,
        ) as answer:
            body = await answer.read()
        if self.loses_answers and request.method == "POST" and "usage" in request.path:
            assert request.transport is not None
            request.transport.abort()
        return web.Response(status=answer.status, body=body, content_type="application/json")


@asynccontextmanager
async def _link(server: PocketBaseServer) -> AsyncIterator[_Link]:
    async with aiohttp.ClientSession() as http:
        link = _Link(server, http)
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", link.forward)
        runner = web.AppRunner(app)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        link.connect(runner.addresses[0][1])
        try:
            yield link
        finally:
            await runner.cleanup()
