"""Requests framed in ways that no client uses: what is not clear is refused, and nothing moves."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import pytest

from entrance.git.pktline import FLUSH
from tests.component.git.matrix.acts import OWN
from tests.component.git.matrix.promises import pushes_at_host
from tests.component.git.matrix.test_heads_by_hand import EMPTY_PACK, command
from tests.servers.git import RUN_TOKEN, Door

PATH = "/git/host/small.git/git-receive-pack"
Frame = Callable[[bytes], bytes]
"""Given a body that would move a ref: the headers that frame it, and what follows."""


@pytest.fixture
def limits() -> dict[str, Any]:
    """Who has sent less than was announced is not waited for."""
    return {"idle_s": 0.5}


async def say(at_door: Door, request: bytes, *, leaves: bool = False) -> bytes:
    """Send it, and nothing more; all that is answered. `leaves`: goes once there is an answer."""
    place = urlsplit(at_door.address)
    reader, writer = await asyncio.open_connection(place.hostname, place.port)
    try:
        writer.write(request)
        async with asyncio.timeout(20):
            answer = await reader.read(1 << 16)
            if leaves:
                writer.write_eof()
            return answer + await reader.read()
    finally:
        writer.close()


def head(line: str = f"POST {PATH} HTTP/1.1", connection: str = "close") -> bytes:
    return (
        f"{line}\r\nHost: door\r\nConnection: {connection}\r\n"
        f"Content-Type: application/x-git-receive-pack-request\r\n"
        f"Authorization: {aiohttp.encode_basic_auth('run', RUN_TOKEN)}\r\n"
    ).encode()


async def good_body(at_door: Door) -> bytes:
    main = (await at_door.refs())["refs/heads/main"]
    return command(new=main) + FLUSH + EMPTY_PACK


def length(text: str) -> Frame:
    return lambda body: f"Content-Length: {text}\r\n\r\n".encode() + body


def coded(text: str) -> Frame:
    """A body in one chunk, under this name of its coding."""
    return lambda body: f"Transfer-Encoding: {text}\r\n\r\n".encode() + chunk(body)


def chunk(body: bytes, size: str | None = None) -> bytes:
    said = f"{len(body):x}" if size is None else size
    return f"{said}\r\n".encode() + body + b"\r\n0\r\n\r\n"


def sized(size: str) -> Frame:
    """One chunk, that says this of its size."""
    return lambda body: b"Transfer-Encoding: chunked\r\n\r\n" + chunk(body, size)


@dataclass(frozen=True, slots=True)
class Row:
    name: str
    frame: Frame


ROWS = (
    Row("no length", lambda body: b"\r\n" + body),
    Row("a length that is too short", length("4")),
    Row("a length that is too long", length("9999")),
    Row("a chunk without its last chunk", lambda body: coded("chunked")(body)[:-5]),
    Row("a chunk cut off", lambda body: coded("chunked")(body)[:-20]),
    Row("a length with a sign", lambda body: length(f"+{len(body)}")(body)),
    Row("a length below zero", length("-1")),
    Row("a length in hex", lambda body: length(hex(len(body)))(body)),
    Row("a length with an underscore", length("1_0")),
    Row(
        "two lengths",
        lambda body: b"Content-Length: 4\r\n" + length(str(len(body)))(body),
    ),
    Row(
        "a length and chunks",
        lambda body: f"Content-Length: {len(body)}\r\n".encode() + coded("chunked")(body),
    ),
    Row(
        "chunks and a length",
        lambda body: (
            f"Transfer-Encoding: chunked\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body
        ),
    ),
    Row("a coding that is almost chunked", coded("xchunked")),
    Row("chunked, and then another coding", coded("chunked, identity")),
    Row("chunked twice", coded("chunked, chunked")),
    Row("two codings", lambda body: b"Transfer-Encoding: identity\r\n" + coded("chunked")(body)),
    Row("a chunk's size that is no hex", sized("xyz")),
    Row("a chunk's size with a sign", sized("+5")),
    Row("a chunk's size below zero", sized("-1")),
    Row("a chunk's size with an underscore", sized("1_0")),
    Row("a chunk's size with 0x", sized("0x10")),
    Row("a chunk's size beyond 64 bits", sized("1" + "0" * 20)),
    Row("a chunk's size that is too small", sized("4")),
    Row("a chunk's size that is too large", sized("ffff")),
    Row("a header folded", lambda body: b"X-A: b\r\n c\r\n" + length(str(len(body)))(body)),
    Row("a header with a bare LF", lambda body: b"X-A: b\n" + length(str(len(body)))(body)),
    Row("a header with NUL", lambda body: b"X-A: \0\r\n" + length(str(len(body)))(body)),
    Row("a header without a colon", lambda body: b"hello\r\n" + length(str(len(body)))(body)),
    Row("a header of 64 KiB", lambda body: b"X-A: " + b"b" * 65536 + b"\r\n" + length("0")(body)),
    Row("a space before a colon", lambda body: f"Content-Length : {len(body)}\r\n\r\n".encode()),
)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
async def test_a_body_framed_in_doubt_moves_nothing(at_door: Door, row: Row) -> None:
    """CASE-57."""
    answer = await say(at_door, head() + row.frame(await good_body(at_door)), leaves=True)

    assert b" 200 " not in answer.partition(b"\r\n")[0] or b"ng " in answer, answer
    assert b"ok refs" not in answer
    assert not pushes_at_host(at_door)


@pytest.mark.parametrize(
    "line",
    [
        "POST {}/ HTTP/1.1",
        "POST /{} HTTP/1.1",
        "POST {}%00 HTTP/1.1",
        "POST /x/..{} HTTP/1.1",
        "PUT {} HTTP/1.1",
        "GET {} HTTP/1.1",
        "post {} HTTP/1.1",
    ],
)
async def test_another_line_of_request_is_no_push(at_door: Door, line: str) -> None:
    body = await good_body(at_door)
    answer = await say(at_door, head(line.format(PATH)) + length(str(len(body)))(body))
    assert b"ok refs" not in answer
    assert not pushes_at_host(at_door)


@pytest.mark.parametrize(
    "frame",
    [
        pytest.param(lambda body: length(str(len(body)))(body), id="with a length"),
        pytest.param(coded("chunked"), id="in one chunk"),
        pytest.param(
            lambda body: (
                b"Transfer-Encoding: chunked\r\n\r\n"
                + b"".join(b"1\r\n%c\r\n" % byte for byte in body)
                + b"0\r\n\r\n"
            ),
            id="in chunks of a byte",
        ),
        pytest.param(
            lambda body: b"Expect: 100-continue\r\n" + length(str(len(body)))(body),
            id="after asking whether to go on",
        ),
    ],
)
async def test_a_body_framed_clearly_arrives(at_door: Door, frame: Frame) -> None:
    """So that the others are refused for their frames."""
    body = await good_body(at_door)
    answer = await say(at_door, head() + frame(body))
    assert b"ok " + OWN.encode() in answer, answer


async def test_a_refused_push_does_not_hide_the_request_behind_it(at_door: Door) -> None:
    """Two pushes in one go: the first is refused, the second judged by itself."""
    main = (await at_door.refs())["refs/heads/main"]
    first = command("refs/heads/main", new=main) + FLUSH + EMPTY_PACK
    second = await good_body(at_door)
    both = head(connection="keep-alive") + length(str(len(first)))(first)
    both += head() + length(str(len(second)))(second)

    answer = await say(at_door, both)

    assert b"ng refs/heads/main" in answer
    assert b"ok " + OWN.encode() in answer
    assert [each.decision.word for each in at_door.audit.decisions("git_push")] == ["deny", "allow"]
