"""Clients and servers that want the proxy's memory, its time or its log: they get none of the others'."""

import base64
import socket
from collections.abc import Iterable
from itertools import repeat
from pathlib import Path

import pytest

from tests.servers.asking import Answer, ask, connect, line, plain
from tests.servers.egress import ALLOWED, OTHER, OTHER_TOKEN, TOKEN, Egress, credentials
from tests.waiting import until

pytestmark = pytest.mark.asyncio(loop_scope="module")
MIB = 1 << 20
TO_ALLOWED = connect(f"{ALLOWED}:443")
SAID = line("GET", "/said", host=ALLOWED)
OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
FILLING = b"a" * 65536
MANY = 800
"""So many of them are 50 MiB."""


def memory(world: Egress) -> int:
    """Bytes that the proxy has in memory."""
    for one in Path(f"/proc/{world.status['pid']}/status").read_text().splitlines():
        if one.startswith("VmRSS:"):
            return int(one.split()[1]) << 10
    raise AssertionError("it is gone")


async def works(world: Egress) -> bool:
    return (
        await ask(world, TO_ALLOWED, line("GET", "/e", host=ALLOWED), sni=ALLOWED)
    ).status == 200


def sound(answer: Answer) -> bool:
    """Whether a client takes it for a whole one."""
    framed = answer.body.endswith(b"0\r\n\r\n") or "ontent-" in answer.head
    return answer.status == 200 and answer.whole and framed


async def heard(world: Egress, said: Iterable[bytes], *, tls: bool = True) -> Answer:
    """What a client gets of it."""
    world.origin.says = said
    if tls:
        return await ask(world, TO_ALLOWED, SAID, sni=ALLOWED)
    return await ask(world, plain(f"http://{ALLOWED}/said"))


@pytest.mark.parametrize("tls", [True, False])
@pytest.mark.parametrize(
    "said",
    [
        pytest.param([CHUNKED, b"5;", *repeat(FILLING, MANY)], id="an extension without end"),
        pytest.param([CHUNKED, b"0" * 65536, *repeat(b"0" * 65536, MANY)], id="a size without end"),
        pytest.param([CHUNKED, b"0\r\n", *repeat(b"X: " + FILLING + b"\r\n", MANY)], id="trailers"),
        pytest.param([OK, *repeat(b"X: " + FILLING + b"\r\n", MANY)], id="a head"),
        pytest.param([b"HTTP/1.1 " + FILLING, *repeat(FILLING, MANY)], id="a status line"),
    ],
)
async def test_an_answer_that_never_gets_to_its_body_is_cut_and_not_kept(
    world: Egress, said: list[bytes], *, tls: bool
) -> None:
    before = memory(world)
    answer = await heard(world, said, tls=tls)
    await world.settled()
    assert not sound(answer)
    assert memory(world) - before < 20 * MIB
    (outcome,) = world.log.outcomes
    assert outcome["result"] in {"cut", "failed"}
    assert await works(world)


@pytest.mark.parametrize(
    "said",
    [
        pytest.param([b"HTTP/1.1 100 Continue\r\n\r\n"] * 10_000, id="endless 100"),
        pytest.param(
            [b"HTTP/1.1 103 Early Hints\r\n\r\n" + OK + b"Content-Length: 0\r\n\r\n"], id="103"
        ),
        pytest.param(
            [OK + b"Content-Length: 3\r\nContent-Length: 5\r\n\r\nabcde"], id="two lengths"
        ),
        pytest.param(
            [OK + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"],
            id="length and coding",
        ),
        pytest.param([OK + b"Content-Length: -1\r\n\r\nabc"], id="a negative length"),
        pytest.param([OK + b"Content-Length: 0x3\r\n\r\nabc"], id="a hexadecimal length"),
        pytest.param([OK + b"Transfer-Encoding: xchunked\r\n\r\nabc"], id="another coding"),
        pytest.param([CHUNKED + b"-3\r\nabc\r\n0\r\n\r\n"], id="a negative chunk"),
        pytest.param([CHUNKED + b"3\r\nabcdef\r\n0\r\n\r\n"], id="a chunk longer than it says"),
        pytest.param([CHUNKED + b"3\r\nabc"], id="half a chunk"),
        pytest.param([b"no HTTP at all\r\n\r\n"], id="no HTTP"),
        pytest.param([b"\xff\0" * 60_000], id="bytes"),
        pytest.param([], id="nothing"),
    ],
)
async def test_an_answer_that_is_none_is_not_passed_on_as_one(
    world: Egress, said: list[bytes]
) -> None:
    answer = await heard(world, said)
    await world.settled()
    assert answer.status in {0, 502} or not sound(answer), answer
    assert len(world.log.outcomes) == 1
    assert await works(world)


async def test_what_a_server_says_after_its_answer_answers_nobody(world: Egress) -> None:
    poison = OK + b"Content-Length: 8\r\n\r\npoisoned"
    world.origin.says = [OK + b"Content-Length: 4\r\n\r\nfine" + poison]
    both = SAID + line("GET", "/next", host=ALLOWED)
    answer = await ask(world, TO_ALLOWED, both, sni=ALLOWED, enough=b"}")
    await world.settled()
    assert answer.body.startswith(b"fine")
    assert b"poisoned" not in answer.body


async def test_an_error_of_any_length_and_any_bytes_gets_to_the_log(world: Egress) -> None:
    """Told again and again, one that the log can't take would keep all others from it."""
    await heard(world, [b"HTTP/1.1 \xff" + b"\xff\0" * 100_000])
    await world.settled()
    (outcome,) = world.log.outcomes
    assert outcome["result"] == "failed"
    assert world.status["recorder"] is True
    assert await works(world)


@pytest.mark.parametrize("tunnel", [True, False])
async def test_a_body_that_never_gets_to_its_bytes_is_cut_and_not_kept(
    world: Egress, *, tunnel: bool
) -> None:
    before = memory(world)
    coding = "Transfer-Encoding: chunked"
    if tunnel:
        head = line("POST", "/post/x", coding, host=ALLOWED)
        with pytest.raises(ConnectionError):
            await ask(world, TO_ALLOWED, head + b"5;" + FILLING * MANY, sni=ALLOWED)
    else:
        world_url = f"http://{ALLOWED}/post/x"
        head = plain(world_url, coding, method="POST")
        with pytest.raises(ConnectionError):
            await ask(world, head + b"5;" + FILLING * MANY)
    await world.settled()
    assert memory(world) - before < 20 * MIB
    assert await works(world)


async def test_a_hello_without_end_costs_nobody_anything(world: Egress) -> None:
    """In records of one byte each, read anew with each piece, it would cost minutes."""
    record = b"\x16\x03\x01\x00\x01"
    hello = b"\x01\xff\xff\xff" + b"\0" * (1 << 20)
    whole = b"".join(record + bytes([one]) for one in hello)
    with pytest.raises(ConnectionError):
        await ask(world, TO_ALLOWED, whole, tls=False)
    await world.settled()
    (outcome,) = world.log.outcomes
    assert "ClientHello" in outcome["detail"]["error"]
    assert await works(world)


async def test_a_head_that_is_broken_off_takes_no_token_into_the_log(world: Egress) -> None:
    for rest in (b"GET", b"X\r\nno header\r\n\r\n"):
        shown = f"GET http://{ALLOWED}/ HTTP/1.1\r\nProxy-Authorization: {credentials()}\r\n"
        await ask(world, shown.encode() + rest, hang_up=True)
    await ask(world, f"Proxy-Authorization {credentials()}\r\n\r\n".encode(), hang_up=True)
    colonless = f"GET http://{ALLOWED}/ HTTP/1.1\r\nProxy-Authorization {credentials()}\r\n\r\n"
    await ask(world, colonless.encode(), hang_up=True)
    await world.settled()
    assert len(world.log.decided) == 4
    shown = base64.b64encode(f"run:{TOKEN}".encode()).decode()
    assert shown not in str(world.log.decided)


class TestManyConnections:
    async def test_a_sandbox_that_holds_all_it_may_have_takes_none_of_anothers(
        self, world: Egress
    ) -> None:
        before = memory(world)
        held: list[socket.socket] = []
        try:
            for number in range(300):
                sock = world.socket()
                held.append(sock)
                sock.sendall(b"GET http://" if number % 2 else TO_ALLOWED)
            await until(lambda: sum(closed(sock) for sock in held) == 300 - 256)
            answer = await ask(world, plain(f"http://{ALLOWED}/e", token=OTHER_TOKEN), source=OTHER)
            assert answer.status == 403
            assert memory(world) - before < 60 * MIB
        finally:
            for sock in held:
                sock.close()
        await world.settled()
        assert await works(world)


def closed(sock: socket.socket) -> bool:
    """Whether the other end has reset it."""
    sock.settimeout(0)
    try:
        return sock.recv(1, socket.MSG_PEEK) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


async def test_a_websocket_message_without_end_is_cut_and_not_kept(world: Egress) -> None:
    before = memory(world)
    asked = line(
        "GET", "/socket", "Connection: Upgrade", "Upgrade: websocket",
        "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        "Sec-WebSocket-Extensions: permessage-deflate", host=ALLOWED,
    )  # fmt: skip
    frame = b"\x00\xfe\xff\xff\0\0\0\0" + b"a" * 65535
    first = b"\x01" + frame[1:]
    with pytest.raises(ConnectionError):
        await ask(world, TO_ALLOWED, asked, sni=ALLOWED, more=first + frame * MANY)
    await world.settled()
    (hit,) = world.origin.hits
    assert hit.header("sec-websocket-extensions") is None
    assert memory(world) - before < 20 * MIB
    assert "none could be passed on" in world.log.outcomes[0]["detail"]["reason"]
    assert await works(world)
