"""The rim: only with the token, HTTP strictly, and no client can hold up the others."""

import asyncio
import subprocess
from contextlib import AsyncExitStack
from pathlib import Path

import aiohttp
import pytest

from tests.component.execd.daemon import TOKEN, Daemon, sandbox_python

AUTH = f"X-EXECD-ACCESS-TOKEN: {TOKEN}\r\n".encode()


async def exchange(execd: Daemon, sent: bytes) -> bytes:
    """Send bytes and read until the connection ends."""
    async with execd.raw() as (reader, writer), asyncio.timeout(10):
        writer.write(sent)
        writer.write_eof()
        return await reader.read()


@pytest.mark.parametrize("token", ["", "wrong", TOKEN + "x", TOKEN[:-1], "\u00e9"])
@pytest.mark.parametrize("path", ["/ping", "/command", "/files/info?path=/", "/proxy/1/", "/nope"])
async def test_nothing_is_answered_without_the_token(
    any_execd: Daemon, token: str, path: str
) -> None:
    """CASE-21: another sandbox's any_execd is of no use without its token."""
    raw = f"POST {path} HTTP/1.1\r\nX-EXECD-ACCESS-TOKEN: {token}\r\n\r\n".encode("latin-1")
    got = await exchange(any_execd, raw)
    assert got.startswith(b"HTTP/1.1 401 ")
    assert b"UNAUTHORIZED" in got
    assert TOKEN.encode() not in got


@pytest.mark.parametrize("token", [None, ""])
def test_it_refuses_to_start_without_a_token(pyz: Path, token: str | None) -> None:
    env = {"PATH": "/usr/bin:/bin"} | ({} if token is None else {"EXECD_ACCESS_TOKEN": token})
    done = subprocess.run(
        [sandbox_python(), "-IS", pyz], env=env, capture_output=True, timeout=20, check=False
    )
    assert done.returncode == 78
    assert b"EXECD_ACCESS_TOKEN" in done.stderr


def test_wrong_arguments_are_told(pyz: Path) -> None:
    done = subprocess.run(
        [sandbox_python(), "-IS", pyz, "--nonsense"], capture_output=True, timeout=20, check=False
    )
    assert done.returncode == 64
    assert b"--nonsense" in done.stderr


async def test_a_connection_serves_many_requests_even_sent_ahead(any_execd: Daemon) -> None:
    ping = b"GET /ping HTTP/1.1\r\n" + AUTH + b"\r\n"
    body = b'{"command": "echo hi"}'
    run = b"POST /command HTTP/1.1\r\n%bContent-Length: %d\r\n\r\n%b" % (AUTH, len(body), body)
    async with any_execd.raw() as (reader, writer), asyncio.timeout(10):
        writer.write(ping * 3 + run + ping)
        for _ in range(3):
            assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200")
        streamed = await reader.readuntil(b"\r\n0\r\n\r\n")
        assert b'"hi\\n"' in streamed
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200")


async def test_a_chunked_body_is_read(any_execd: Daemon) -> None:
    body = (
        b"8\r\n" + b'{"comman' + b"\r\n11;x=y\r\n" + b'd": "echo short"}' + b"\r\n0\r\nT: r\r\n\r\n"
    )
    head = b"POST /command HTTP/1.1\r\n" + AUTH + b"Transfer-Encoding: chunked\r\n"
    got = await exchange(any_execd, head + b"Connection: close\r\n\r\n" + body)
    assert b"short" in got or b"200 OK" in got


async def test_an_old_client_gets_an_answer_without_chunks(any_execd: Daemon) -> None:
    body = b'{"command": "echo hi"}'
    async with any_execd.raw() as (reader, writer), asyncio.timeout(10):
        writer.write(b"POST /command HTTP/1.0\r\n%bContent-Length: 22\r\n\r\n%b" % (AUTH, body))
        got = await reader.read()
    assert b"chunked" not in got
    assert b'"hi\\n"' in got


async def test_who_asks_first_is_told_to_go_on(any_execd: Daemon) -> None:
    head = b"POST /command HTTP/1.1\r\n%bExpect: 100-continue\r\nContent-Length: 19\r\n\r\n" % AUTH
    async with any_execd.raw() as (reader, writer), asyncio.timeout(10):
        writer.write(head)
        assert await reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
        writer.write(b'{"command": "true"}')
        assert b"200 OK" in await reader.readuntil(b"\r\n\r\n")


@pytest.mark.parametrize(
    ("raw", "status"),
    [
        pytest.param(b"GET /ping\r\n\r\n", 400, id="no version"),
        pytest.param(b"\x16\x03\x01\x00\xa5" + b"\x00" * 40 + b"\r\n\r\n", 400, id="TLS"),
        pytest.param(b"GET /" + b"a" * 40000, 431, id="endless target"),
        pytest.param(b"GET /ping HTTP/1.1\r\n" + b"a: b\r\n" * 200 + b"\r\n", 431, id="headers"),
        pytest.param(b"GET /nope HTTP/1.1\r\n" + AUTH + b"\r\n", 404, id="unknown path"),
        pytest.param(b"PUT /ping HTTP/1.1\r\n" + AUTH + b"\r\n", 405, id="wrong method"),
        pytest.param(
            b"POST /command HTTP/1.1\r\n" + AUTH + b"Content-Length: 5000000\r\n\r\n", 413, id="big"
        ),
        pytest.param(
            b"POST /command HTTP/1.1\r\n" + AUTH + b"Content-Length: 5\r\n\r\n{]{]{", 400, id="JSON"
        ),
        pytest.param(
            b"POST /command HTTP/1.1\r\n" + AUTH + b"Content-Length: 9\r\n\r\n{}", 400, id="cut off"
        ),
        pytest.param(
            b"POST /command HTTP/1.1\r\n" + AUTH + b"Content-Length: 2\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n{}", 400, id="two lengths"
        ),
        pytest.param(
            b"POST /command HTTP/1.1\r\n" + AUTH + b"Content-Length: 100000\r\n\r\n" + b"[" * 100000,
            400,
            id="deep JSON",
        ),
    ],
)  # fmt: skip
async def test_bad_requests_get_a_status_and_do_no_harm(
    any_execd: Daemon, raw: bytes, status: int
) -> None:
    got = await exchange(any_execd, raw)
    assert got.startswith(b"HTTP/1.1 %d " % status)
    async with any_execd.http.get("/ping") as answer:
        assert answer.status == 200


async def test_silent_connections_from_inside_do_not_lock_anybody_out(execd: Daemon) -> None:
    async with AsyncExitStack() as held:
        for _ in range(99):
            await held.enter_async_context(execd.raw())
        _, writer = await held.enter_async_context(execd.raw())
        writer.write(b"GET /ping HTTP/1.1\r\nX-EXE")
        for _ in range(5):
            async with aiohttp.ClientSession(f"http://127.0.0.1:{execd.port}") as fresh:
                ping = fresh.get("/ping", headers={"X-EXECD-ACCESS-TOKEN": TOKEN})
                async with asyncio.timeout(5), ping as answer:
                    assert answer.status == 200
        assert len(list(Path(f"/proc/{execd.pid}/fd").iterdir())) < 60


async def test_a_client_that_does_not_read_slows_only_its_own_command(execd: Daemon) -> None:
    body = b'{"command": "yes"}'
    async with execd.raw() as (reader, writer):
        writer.write(b"POST /command HTTP/1.1\r\n%bContent-Length: 18\r\n\r\n%b" % (AUTH, body))
        await reader.readuntil(b"\r\n\r\n")
        # Nobody reads on: its buffers fill, then the socket's, then execd's, then the pipe.
        for _ in range(20):
            async with asyncio.timeout(2), execd.http.get("/ping") as answer:
                assert answer.status == 200
            await asyncio.sleep(0.05)
        assert execd.rss_mib() < 60


async def test_execd_can_be_reached_through_its_own_proxy(any_execd: Daemon) -> None:
    """As in the server's direct mode, where every port is reached through /proxy/."""
    own = f"/proxy/{any_execd.port}"
    async with any_execd.http.get(f"{own}{own}/ping") as answer:
        assert answer.status == 200
    async with any_execd.http.get(f"{own}/files/info?path={any_execd.home}") as answer:
        assert str(any_execd.home) in await answer.json()


async def test_the_metrics_are_what_the_sdk_reads(execd: Daemon) -> None:
    metrics = await execd.metrics.get_metrics("any")
    assert metrics.cpu_count > 0
    assert 0 < metrics.memory_used_in_mib < metrics.memory_total_in_mib
