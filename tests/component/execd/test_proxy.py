"""/proxy/{port}: streaming both ways to a server inside, which is the agent's and not trusted."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from tests.component.execd.daemon import Daemon


@asynccontextmanager
async def inside(handler: web.RequestHandler | object) -> AsyncIterator[int]:
    """An aiohttp server on loopback; its port."""
    runner = web.ServerRunner(web.Server(handler))  # type: ignore[arg-type]  # a plain handler
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()


@asynccontextmanager
async def answering(raw: bytes) -> AsyncIterator[int]:
    """A server that answers anything with these bytes and hangs up; its port."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1000)
        writer.write(raw)
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


async def test_a_request_arrives_as_it_was_sent_but_without_the_token(any_execd: Daemon) -> None:
    async def echo(request: web.BaseRequest) -> web.Response:
        assert "X-EXECD-ACCESS-TOKEN" not in request.headers
        return web.json_response(
            [
                request.method,
                request.raw_path,
                (await request.read()).decode(),
                request.headers["X-Own"],
            ],
            status=207,
            headers={"X-Back": "yes"},
        )

    async with inside(echo) as port:
        url = f"/proxy/{port}/a%2Fb/c?x=1&x=%20&y"
        async with any_execd.http.put(url, data="body", headers={"X-Own": "o"}) as answer:
            assert (answer.status, answer.headers["X-Back"]) == (207, "yes")
            assert await answer.json() == ["PUT", "/a%2Fb/c?x=1&x=%20&y", "body", "o"]
        async with any_execd.http.get(f"/proxy/{port}", headers={"X-Own": "o"}) as answer:
            assert (await answer.json())[1] == "/"


async def test_both_directions_stream(any_execd: Daemon) -> None:
    async def back(request: web.BaseRequest) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        async for piece in request.content.iter_any():
            await response.write(piece.upper())
        return response

    heard = asyncio.Event()

    async def spoken() -> AsyncIterator[bytes]:
        yield b"one"
        await heard.wait()  # the first answer comes before the request is over
        yield b"two"

    async with inside(back) as port, asyncio.timeout(10):
        async with any_execd.http.post(f"/proxy/{port}/", data=spoken()) as answer:
            assert await answer.content.readany() == b"ONE"
            heard.set()
            assert await answer.read() == b"TWO"
        async with any_execd.http.get("/ping") as answer:
            assert answer.status == 200


@pytest.mark.parametrize(
    ("raw", "status", "body"),
    [
        pytest.param(b"HTTP/1.1 200 OK\r\n\r\nto the end", 200, b"to the end", id="no length"),
        pytest.param(b"HTTP/1.0 404 No\r\nContent-Length: 2\r\n\r\nhi", 404, b"hi", id="1.0"),
        pytest.param(b"HTTP/1.1 204 No\r\nX: y\r\n\r\n", 204, b"", id="no content"),
        pytest.param(
            b"HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx", 200, b"x", id="1xx"
        ),
        pytest.param(b"garbage\r\n\r\n", 502, None, id="no HTTP"),
        pytest.param(b"HTTP/1.1 200 OK\r\nA: b\r\n c: d\r\n\r\n", 502, None, id="folded header"),
        pytest.param(b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 20000, 502, None, id="endless head"),
        pytest.param(b"", 502, None, id="nothing"),
        pytest.param(
            b"HTTP/1.1 200 OK\r\nContent-Length: 1, 2\r\n\r\nxx", 502, None, id="two lengths"
        ),
    ],
)  # fmt: skip
async def test_what_a_server_answers_is_passed_on_or_a_bad_gateway(
    any_execd: Daemon, raw: bytes, status: int, body: bytes | None
) -> None:
    async with answering(raw) as port, any_execd.http.get(f"/proxy/{port}/") as answer:
        assert answer.status == status
        if body is not None:
            assert await answer.read() == body


async def test_head_has_no_body_and_the_connection_goes_on(any_execd: Daemon) -> None:
    async def big(_: web.BaseRequest) -> web.Response:
        return web.Response(body=b"x" * 5000)

    async with inside(big) as port:
        for _ in range(2):
            async with any_execd.http.head(f"/proxy/{port}/") as answer:
                assert (answer.status, await answer.read()) == (200, b"")


@pytest.mark.parametrize(
    ("port", "status"), [("0", 400), ("99999", 400), ("x", 400), ("-1", 400), ("1", 502), ("", 400)]
)
async def test_where_nobody_can_answer_says_so(any_execd: Daemon, port: str, status: int) -> None:
    async with any_execd.http.get(f"/proxy/{port}/") as answer:
        assert answer.status == status


async def test_an_answer_cut_short_does_not_look_complete(any_execd: Daemon) -> None:
    import aiohttp  # noqa: PLC0415  # only here

    async with answering(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf") as port:
        with pytest.raises(aiohttp.ClientPayloadError):
            async with any_execd.http.get(f"/proxy/{port}/") as answer:
                await answer.read()
