"""How the client behaves when Polarion, or what stands before it, does not."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web
from yarl import URL

from entrance.errors import Forbidden, Malformed, SandgateError, Unavailable
from orchestrator.adapters.polarion import KeyedLocks, NewItem, PolarionClient, Text
from orchestrator.app.parts import http_client
from tests.servers.certificates import certificate
from tests.servers.polarion import QUICK

ITEM = {"data": {"type": "workitems", "id": "P/P-1", "attributes": {"title": "T"}}}

type Script = Callable[[web.Request, int], web.StreamResponse | Awaitable[web.StreamResponse]]
"""Answers the n-th request, from 1."""


class Scripted:
    """A server that answers as it is told, and remembers what it was asked."""

    def __init__(self, script: Script) -> None:
        self.asked: list[web.BaseRequest] = []
        self.base = ""
        self._script = script

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        self.asked.append(request)
        await request.read()
        answer = self._script(request, len(self.asked))  # type: ignore[arg-type]  # a plain server's request
        return answer if isinstance(answer, web.StreamResponse) else await answer


@asynccontextmanager
async def scripted(
    script: Script, tls: ssl.SSLContext | None = None
) -> AsyncIterator[tuple[Scripted, PolarionClient]]:
    server = Scripted(script)
    runner = web.ServerRunner(web.Server(server.answer))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls).start()
    host, port = runner.addresses[0][:2]
    server.base = f"{'https' if tls else 'http'}://{host}:{port}/polarion/rest/v1"
    try:
        async with aiohttp.ClientSession() as session:
            yield server, PolarionClient(session, server.base, authorize, patience=QUICK)
    finally:
        await runner.cleanup()


def authorize(method: str, url: URL) -> dict[str, str]:
    return {"Authorization": "Bearer secret-of-the-test", "X-Asked": f"{method} {url.path}"}


def failing(status: int, times: int, headers: dict[str, str] | None = None) -> Script:
    """`times` failures, then the item."""

    def script(_: web.Request, number: int) -> web.StreamResponse:
        if number <= times:
            return web.Response(status=status, headers=headers)
        return web.json_response(ITEM)

    return script


@pytest.mark.parametrize("status", [429, 502, 503, 504])
async def test_reading_is_tried_again(status: int) -> None:
    """Up to the number of attempts; each attempt asks for its headers anew."""
    async with scripted(failing(status, 2)) as (server, client):
        assert (await client.items.get("P/P-1")).title == "T"
        assert len(server.asked) == 3
        assert (
            server.asked[2].headers["X-Asked"] == "GET /polarion/rest/v1/projects/P/workitems/P-1"
        )
    async with scripted(failing(status, 9)) as (server, client):
        with pytest.raises(Unavailable, match=str(status)):
            await client.items.get("P/P-1")
        assert len(server.asked) == 3


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 500])
async def test_what_will_not_change_is_not_tried_again(status: int) -> None:
    """A wrong token above all: it fails at once. CASE-115: so does one that is refused at random."""
    async with scripted(failing(status, 9)) as (server, client):
        with pytest.raises(SandgateError):
            await client.items.get("P/P-1")
        assert len(server.asked) == 1


async def test_setting_values_is_tried_again_but_acting_is_not() -> None:
    """A PATCH with absolute values may go twice; a workflow action, a creation, a comment never."""
    async with scripted(failing(503, 1)) as (server, client):
        await client.items.update("P/P-1", title="U")
        assert len(server.asked) == 2
    creations: tuple[Callable[[PolarionClient], Awaitable[object]], ...] = (
        lambda c: c.items.update("P/P-1", title="U", workflow_action="start"),
        lambda c: c.items.create("P", NewItem("task", "T")),
        lambda c: c.comments.add("P/P-1", Text("x")),
        lambda c: c.links.add("P/P-1", "parent", "P/P-2"),
        lambda c: c.attachments.add("P/P-1", "a", b"x"),
        lambda c: c.items.delete("P/P-1"),
    )
    for creation in creations:
        async with scripted(failing(503, 9)) as (server, client):
            with pytest.raises(Unavailable):
                await creation(client)
            assert len(server.asked) == 1


async def test_the_server_s_own_wish_is_honoured() -> None:
    """Retry-After: a short one is waited for, a long one is handed on."""
    async with scripted(failing(429, 1, {"Retry-After": "1"})) as (server, client):
        start = asyncio.get_running_loop().time()
        await client.items.get("P/P-1")
        assert asyncio.get_running_loop().time() - start >= 1
    async with scripted(failing(429, 1, {"Retry-After": "600"})) as (server, client):
        with pytest.raises(Unavailable) as caught:
            await client.items.get("P/P-1")
        assert caught.value.retry_after_s == 600
        assert len(server.asked) == 1


async def test_a_server_that_is_not_there_is_unavailable() -> None:
    async with scripted(failing(200, 0)) as (server, _):
        gone = server.base
    async with aiohttp.ClientSession() as session:
        client = PolarionClient(session, gone, authorize, patience=QUICK)
        with pytest.raises(
            Unavailable, match=r"reading work item P/P-1: .* can't be reached"
        ) as caught:
            await client.items.get("P/P-1")
    assert "secret" not in str(caught.value)


async def test_a_certificate_that_nobody_vouches_for_is_told_with_what_to_do(
    tmp_path: Path,
) -> None:
    """CASE-115."""
    async with scripted(failing(200, 0), certificate(tmp_path).context) as (server, client):
        with pytest.raises(Unavailable, match="name its authority in SSL_CERT_FILE"):
            await client.items.get("P/P-1")
        assert server.asked == []


async def test_no_session_is_gone_on_with_so_none_can_be_ended() -> None:
    """CASE-106: each request stands by its own token, whosever the one before was."""

    def script(_: web.Request, __: int) -> web.StreamResponse:
        answer = web.json_response(ITEM)
        answer.set_cookie("JSESSIONID", "of-somebody")
        return answer

    async with scripted(script) as (server, _), http_client() as session:
        base = server.base.replace("127.0.0.1", "localhost")
        client = PolarionClient(session, base, authorize, patience=QUICK)
        await client.items.get("P/P-1")
        await client.items.get("P/P-1")
    for one in server.asked:
        assert "Cookie" not in one.headers
        assert "X-Polarion-REST-Token" not in one.headers


async def test_the_token_follows_no_redirection_and_no_foreign_page() -> None:
    """A log-in page, or a `next` at another host, never sees the token."""
    async with scripted(lambda _, __: web.json_response(ITEM)) as (thief, _):

        def redirect(_: web.Request, __: int) -> web.StreamResponse:
            return web.Response(status=302, headers={"Location": thief.base})

        def lure(request: web.Request, __: int) -> web.StreamResponse:
            if "page[number]=2" in request.query_string:
                return web.json_response({"data": []})
            following = f"{thief.base}/all/workitems?page[number]=2"
            return web.json_response({"data": [ITEM["data"]], "links": {"next": following}})

        async with scripted(redirect) as (_, client):
            with pytest.raises(Forbidden, match="redirection"):
                await client.items.get("P/P-1")
        async with scripted(lure) as (server, client):
            assert [item.id async for item in client.items.query("x")] == ["P/P-1"]
            assert len(server.asked) == 2
        assert thief.asked == []


async def test_pages_that_go_round_in_a_circle_end() -> None:
    def script(request: web.Request, _: int) -> web.StreamResponse:
        return web.json_response(
            {"data": [ITEM["data"]], "links": {"next": str(request.url.with_query("a=1"))}}
        )

    async with scripted(script) as (_, client):
        with pytest.raises(Malformed, match="circle"):
            [item async for item in client.items.query("x")]


async def test_a_resource_that_could_not_be_read_is_left_out_of_a_list() -> None:
    rows = [{"id": "P/P-0", "meta": {"errors": [{"status": "403"}]}}, ITEM["data"], None]
    async with scripted(lambda _, __: web.json_response({"data": rows, "links": None})) as (
        _,
        client,
    ):
        assert [item.id async for item in client.items.query("x")] == ["P/P-1"]


@pytest.mark.parametrize("body", [None, [], {}, {"data": None}, {"data": {}}, {"data": [{}]}])
async def test_a_strange_answer_to_a_creation_is_malformed(body: object) -> None:
    async with scripted(lambda _, __: web.json_response(body, status=201)) as (_, client):
        with pytest.raises(Malformed):
            await client.items.create("P", NewItem("task", "T"))


async def test_an_endless_error_page_is_cut() -> None:
    async def script(request: web.Request, _: int) -> web.StreamResponse:
        response = web.StreamResponse(status=500)
        await response.prepare(request)
        for _ in range(100):
            await response.write(b"x" * 65536)
        return response

    async with scripted(script) as (_, client):
        with pytest.raises(Unavailable, match="500"):
            await client.items.get("P/P-1")


async def test_a_download_asks_for_bytes_and_reports_an_error_as_one() -> None:
    """CASE-110: a JSON-only Accept would be a 406."""

    def script(request: web.Request, _: int) -> web.StreamResponse:
        assert request.headers["Accept"] == "application/octet-stream, application/json"
        return web.json_response({"errors": [{"detail": "no such file"}]}, status=404)

    async with scripted(script) as (_, client):
        with pytest.raises(SandgateError, match="no such file"):
            [chunk async for chunk in client.attachments.content("P/P-1/1-a b/c.txt")]


async def test_locks_serialise_one_key_and_leave_nothing_behind() -> None:
    """CASE-116."""
    locks, order = KeyedLocks(), []

    async def hold(name: str, key: str) -> None:
        async with locks.holding(key):
            order.append(f"{name} in")
            await asyncio.sleep(0)
            order.append(f"{name} out")

    async with asyncio.TaskGroup() as group:
        for name in ("a", "b"):
            group.create_task(hold(name, "same"))
    assert order == ["a in", "a out", "b in", "b out"]
    assert len(locks) == 0
