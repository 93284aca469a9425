"""Servers that answer with whatever they like: told in words, sent nothing twice, and it all goes on."""

import asyncio
import gzip
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession

from entrance.mcp.gateway import Limits
from entrance.mcp.policy import Call
from entrance.mcp.released import Released
from entrance.mcp.upstream.events import LARGEST
from entrance.ports import McpServer
from tests.component.entrance.raw_client import ERAS, EVENTS, META, Era, event, modern
from tests.servers.anthropic import ModelServer
from tests.servers.door import Door, open_door
from tests.servers.hostile_mcp import (
    GOOD,
    HostileServer,
    Say,
    Seen,
    answer_to,
    hostile_server,
    whole,
)
from tests.waiting import until

SECRET = "a-very-secret-token"
STREAM = "Content-Type: text/event-stream"
JSON = "Content-Type: application/json"
UNKNOWN = "whether it was done is not known"
BROKE_OFF = f"went away in mid-call; {UNKNOWN}"
NOT_JSON = f"its answer is not JSON; {UNKNOWN}"


@pytest.fixture(params=ERAS)
async def hostile(request: pytest.FixtureRequest) -> AsyncIterator[HostileServer]:
    async with hostile_server(request.param) as server:
        yield server


@pytest.fixture
def limit_s() -> float:
    """So long a call may take: more than any of them does, but for one that is to take longer."""
    return 30.0


@pytest.fixture
async def house(
    tmp_path: Path, model: ModelServer, hostile: HostileServer, limit_s: float
) -> AsyncIterator[Door]:
    servers = [McpServer("odd", hostile.url, "token")]
    limits = Limits(call_timeout_s=limit_s)
    async with open_door(tmp_path, model, servers=servers, limits=limits) as opened:
        await opened.vault.put("token", SECRET, [host_of(hostile.url)], "mcp")
        opened.reopen(tools={"odd": frozenset({"act"})})
        yield opened


def host_of(url: str) -> str:
    return url.removeprefix("http://").removesuffix("/mcp")


async def call(house: Door, http: ClientSession, era: Era) -> str:
    """What the agent is told."""
    params = {"name": "act", "arguments": {}, "_meta": META}
    body: dict[str, Any] = {"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": params}
    headers = house.bearer | EVENTS | (modern(body) if era == "modern" else {})
    async with http.post(f"{house.url}/mcp", json=body, headers=headers) as answer:
        said = (
            await answer.json()
            if answer.content_type != "text/event-stream"
            else await event(answer)
        )
    assert SECRET not in str(said)
    return str(said["result"]["content"][0]["text"])


async def told(house: Door, http: ClientSession, hostile: HostileServer, says: Say) -> str:
    """What the agent is told of one such answer, after which all is as before; the call went out once."""
    before, hostile.says = hostile.calls, says
    text = await call(house, http, hostile.era)
    assert hostile.calls == before + 1, "sent again"
    hostile.says = None
    assert await call(house, http, hostile.era) == "done"
    return text


def saying(answer: bytes) -> Say:
    async def says(_: Seen, writer: asyncio.StreamWriter) -> None:
        writer.write(answer)

    return says


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_not_followed_and_the_credential_goes_nowhere_else(
    house: Door, hostile: HostileServer, http: ClientSession, status: int
) -> None:
    async with hostile_server("handshake") as trap:
        says = saying(whole("", f"Location: {trap.url}", status=status))
        assert "the server is elsewhere" in await told(house, http, hostile, says)
        assert not trap.seen
    assert {one.headers["authorization"] for one in hostile.seen} == {f"Bearer {SECRET}"}


BUSY = "can't be reached now; try again in"


@pytest.mark.parametrize("status", [429, 503])
async def test_one_that_is_too_busy_is_not_asked_again_and_says_until_when(
    house: Door, hostile: HostileServer, http: ClientSession, status: int
) -> None:
    waits = {
        "": "a minute", "Retry-After: 7": "7 s", "Retry-After: 0": "a minute", "Retry-After: -5": "a minute",
        "Retry-After: 9e999": "a minute", "Retry-After: tomorrow": "a minute",
        f"Retry-After: {'9' * 400}": "3600 s",
    }  # fmt: skip
    for header, wait in waits.items():
        says = saying(whole("", *filter(None, [header]), status=status))
        assert (await told(house, http, hostile, says)).endswith(f"{BUSY} {wait}"), header


BOMB = gzip.compress(b" " * (64 << 20))
IN_WORDS: Mapping[str, tuple[bytes, str]] = {
    "a page": (whole("<html>sign in</html>", "Content-Type: text/html"), NOT_JSON),
    "a picture": (whole(b"\x89PNG\0\xff", "Content-Type: image/png"), NOT_JSON),
    "no type": (whole("nothing"), NOT_JSON),
    "no UTF-8": (whole(b"\xff\xfe", JSON), NOT_JSON),
    "a list": (whole("[]", JSON), f"its answer is no message; {UNKNOWN}"),
    "an abyss": (whole(b"[" * 100_000, JSON), NOT_JSON),
    "packed": (whole(BOMB, JSON, "Content-Encoding: gzip"), NOT_JSON),
    "nothing": (whole("", JSON), BROKE_OFF),
    "a page as a stream": (whole("<html>\n\n</html>\n\n", STREAM), BROKE_OFF),
    "no JSON in a stream": (whole("data: {\n\n", STREAM), NOT_JSON),
    "half": (whole('{"jsonrpc"', JSON, length=100), BROKE_OFF),
    "another's answer": (whole('{"jsonrpc":"2.0","id":77,"result":{}}', JSON), BROKE_OFF),
    "an answer to yes": (whole('{"jsonrpc":"2.0","id":true,"result":{}}', JSON), BROKE_OFF),
    "an answer to nobody": (whole('{"jsonrpc":"2.0","id":null,"result":{}}', JSON), BROKE_OFF),
    "a page for a failure": (whole("<html>oops</html>", status=500), BROKE_OFF),
    "not allowed": (whole("", status=401), "doesn't take what it was shown"),
    "no HTTP": (b"\x16\x03\x01\x02\x00", BROKE_OFF),
    "a huge header": (whole("{}", JSON, f"X-Much: {'x' * 1_000_000}"), BROKE_OFF),
    "a line break in a header": (whole("{}", JSON, "X-Odd: a\0b"), BROKE_OFF),
    "two lengths": (whole("{}", JSON, "Content-Length: 7"), BROKE_OFF),
    "a broken chunk": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", BROKE_OFF),
}  # fmt: skip
"""What is sent, and what the agent is told."""


async def test_an_answer_that_is_none_is_told_in_words(
    house: Door, hostile: HostileServer, http: ClientSession
) -> None:
    for name, (answer, words) in IN_WORDS.items():
        assert words in await told(house, http, hostile, saying(answer)), name


async def test_a_released_call_whose_answer_can_not_be_read_may_have_been_done(
    house: Door, hostile: HostileServer
) -> None:
    hostile.says = saying(IN_WORDS["a page"][0])
    released = Released(house.connections.providers)
    assert await released.call(house.session, Call("odd", "act")) is None
    assert hostile.calls == 1


async def test_answers_to_other_requests_are_passed_over(
    house: Door, hostile: HostileServer, http: ClientSession
) -> None:
    async def says(asked: Seen, writer: asyncio.StreamWriter) -> None:
        others = [
            answer_to(asked, {"content": []}, id=rpc_id)
            for rpc_id in (str(asked.id), True, 77, None)
        ]
        events = [b"data: " + each + b"\n\n" for each in (*others, answer_to(asked, GOOD))]
        writer.write(whole(b"".join(events), STREAM))

    assert await told(house, http, hostile, says) == "done"


@pytest.mark.parametrize("limit_s", [2.0])
async def test_a_stream_without_an_end_is_given_up_and_left(
    house: Door, hostile: HostileServer, http: ClientSession
) -> None:
    progress = b'data: {"jsonrpc":"2.0","method":"notifications/progress","params":{}}\n\n'
    for piece in (progress, b": still there\n", b"HTTP/1.1 102 Processing\r\n\r\n"):
        head = b"" if piece.startswith(b"HTTP") else f"HTTP/1.1 200 OK\r\n{STREAM}\r\n\r\n".encode()

        async def says(
            _: Seen, writer: asyncio.StreamWriter, head: bytes = head, piece: bytes = piece
        ) -> None:
            writer.write(head)
            while True:
                writer.write(piece)
                await writer.drain()
                await asyncio.sleep(0.01)

        assert "gave no answer in 2 s" in await told(house, http, hostile, says)
    await until(lambda: hostile.left == 3)


@pytest.mark.parametrize(
    ("head", "words"),
    [(JSON, "its answer is larger than 32 MB"), (STREAM, "an event is larger than 32 MB")],
)
async def test_an_answer_without_an_end_is_given_up_at_a_size(
    house: Door, hostile: HostileServer, http: ClientSession, head: str, words: str
) -> None:
    async def says(_: Seen, writer: asyncio.StreamWriter) -> None:
        writer.write(f"HTTP/1.1 200 OK\r\n{head}\r\n\r\ndata: ".encode())
        sent = 0
        while True:
            writer.write(b"x" * (1 << 20))
            await writer.drain()
            sent += 1 << 20
            assert sent < 2 * LARGEST, "it is read on"

    assert words in await told(house, http, hostile, says)


@pytest.mark.parametrize("hostile", ["handshake"], indirect=True)
async def test_an_id_of_a_session_that_can_not_be_sent_back_begins_none(
    house: Door, hostile: HostileServer, http: ClientSession
) -> None:
    for session_id in ("two words", "\xe9", "x" * 1001, "x" * 100_000, "\x01", ""):

        async def greets(
            asked: Seen, writer: asyncio.StreamWriter, given: str = session_id
        ) -> None:
            result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}}
            writer.write(whole(answer_to(asked, result), JSON, f"Mcp-Session-Id: {given}"))

        hostile.greets = greets
        assert "odd can't be reached" in await call(house, http, "handshake"), repr(session_id)[:20]
    assert hostile.calls == 0
    hostile.greets = None
    assert await call(house, http, "handshake") == "done"


@pytest.mark.parametrize("hostile", ["handshake"], indirect=True)
async def test_a_session_keeps_its_id_whatever_is_said_later_and_takes_no_cookies(
    house: Door, hostile: HostileServer, http: ClientSession
) -> None:
    async def says(asked: Seen, writer: asyncio.StreamWriter) -> None:
        odd = (JSON, "Mcp-Session-Id: another", "Set-Cookie: session=another")
        writer.write(whole(answer_to(asked, GOOD), *odd))

    assert await told(house, http, hostile, says) == "done"
    last = hostile.seen[-1].headers
    assert last["mcp-session-id"] == "s-1"
    assert "cookie" not in last


@pytest.mark.parametrize("hostile", ERAS, indirect=True)
async def test_a_list_that_is_none_hides_that_servers_tools_until_there_is_one(
    house: Door, hostile: HostileServer, http: ClientSession
) -> None:
    for answer, _ in IN_WORDS.values():
        hostile.lists = saying(answer)
        assert "odd can't be reached" in await call(house, http, hostile.era)
    assert hostile.calls == 0
    hostile.lists = None
    assert await call(house, http, hostile.era) == "done"
