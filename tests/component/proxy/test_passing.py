"""What is let through arrives as it was sent, and what is broken off can't be taken for whole."""

import asyncio
import hashlib
import os

import pytest

from proxy.policy import Limits, Rule
from tests.servers.asking import ask, connect, line, plain
from tests.servers.egress import ALLOWED, HTTP, RULES, SANDBOX, Egress, other, sandbox
from tests.waiting import until

pytestmark = pytest.mark.asyncio(loop_scope="module")
MIB = 1 << 20
TO_ALLOWED = connect(f"{ALLOWED}:443")
KEY = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="
WEBSOCKET = ("Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", KEY)
HELLO = bytes([0x81, 0x80 | 5, 1, 2, 3, 4]) + bytes(
    b ^ m for b, m in zip(b"hello", b"\1\2\3\4\1", strict=True)
)
TALK = line("GET", "/socket", *WEBSOCKET, host=ALLOWED) + HELLO


def get(path: str, host: str = ALLOWED) -> bytes:
    return line("GET", path, host=host)


@pytest.mark.parametrize("how", ["length", "chunked", "eof"])
async def test_a_body_arrives_whole_and_its_hash_is_in_the_log(world: Egress, how: str) -> None:
    answer = await ask(world, TO_ALLOWED, get(f"/big?bytes={3 * MIB}&as={how}"), sni=ALLOWED)
    await world.settled()
    (outcome,) = world.log.outcomes
    assert outcome["result"] == "done"
    assert outcome["response_sha256"] == hashlib.sha256(b"y" * (3 * MIB)).hexdigest()
    assert outcome["hashed_bytes"] == 3 * MIB
    assert 3 * MIB < outcome["bytes_in"] < 3 * MIB + 200
    assert outcome["target"] == "11.0.0.10:443"
    assert answer.body.count(b"y") == 3 * MIB
    # Also of a body that ends with its connection the end can be told from a break.
    assert ("content-length" in answer.head.lower()) is (how == "length")
    assert ("transfer-encoding: chunked" in answer.head.lower()) is (how != "length")


async def test_a_body_is_passed_on_as_it_comes(world: Egress) -> None:
    world.origin.go_on.clear()
    with world.socket() as sock:
        sock.settimeout(0)
        loop = asyncio.get_running_loop()
        await loop.sock_sendall(sock, plain(f"http://{ALLOWED}/held"))
        seen = b""
        async with asyncio.timeout(5):
            while b"first" not in seen:
                seen += await loop.sock_recv(sock, 4096)
            world.origin.go_on.set()
            while not seen.endswith(b"0\r\n\r\n"):
                seen += await loop.sock_recv(sock, 4096)
    assert b"second" in seen


async def test_a_body_that_a_rule_allows_is_sent_and_hashed(world: Egress) -> None:
    """CASE-25: it arrives byte for byte; no secret is put into one."""
    body = os.urandom(2 * MIB)
    inner = line("POST", "/post/x", f"Content-Length: {len(body)}", host=ALLOWED) + body
    answer = await ask(world, TO_ALLOWED, inner, sni=ALLOWED)
    await world.settled()
    assert answer.status == 200
    assert world.origin.hits[0].body == body
    (outcome,) = world.log.outcomes
    assert outcome["request_sha256"] == hashlib.sha256(body).hexdigest()
    assert outcome["bytes_out"] > len(body)


async def test_a_refused_upload_is_answered_before_it_has_come_in(world: Egress) -> None:
    inner = line("POST", "/no", f"Content-Length: {1 << 40}", host=ALLOWED)
    answer = await ask(world, TO_ALLOWED, inner, sni=ALLOWED)
    assert answer.status == 403
    assert "not allowed" in answer.body.decode()


@pytest.mark.parametrize("how", ["length", "chunked", "eof"])
async def test_a_response_over_its_rules_size_is_refused_or_visibly_broken(
    world: Egress, how: str
) -> None:
    host = "small.example"
    answer = await ask(
        world, connect(f"{host}:443"), get(f"/big?bytes={MIB}&as={how}", host), sni=host
    )
    await world.settled()
    (outcome,) = world.log.outcomes
    assert outcome["result"] == "cut"
    assert "100000" in outcome["detail"]["reason"]
    assert len(answer.body) < 110_000
    if how == "length":
        assert answer.status == 502
        assert "100000 are allowed" in answer.body.decode()
    else:
        assert answer.status == 200
        assert not answer.whole


async def test_a_type_that_a_rule_doesnt_name_is_refused_with_the_reason(world: Egress) -> None:
    host = "typed.example"
    place = connect(f"{host}:443")
    no = await ask(world, place, get("/big?bytes=9&type=application/zip", host), sni=host)
    yes = await ask(world, place, get("/big?bytes=9&type=text/plain", host), sni=host)
    assert (no.status, yes.status) == (502, 200)
    assert "application/zip" in no.body.decode()


@pytest.mark.parametrize("path", ["/short", "/trailers", "/switch", "/endless"])
async def test_a_server_that_breaks_the_rules_gets_nobody_a_sound_answer(
    world: Egress, path: str
) -> None:
    answer = await ask(world, TO_ALLOWED, get(path), sni=ALLOWED)
    await world.settled()
    (outcome,) = world.log.outcomes
    assert outcome["result"] in {"failed", "cut"}
    assert not (answer.status == 200 and answer.whole and b"\r\n0\r\n" in answer.body)
    assert answer.status != 101
    assert (await ask(world, TO_ALLOWED, get("/e"), sni=ALLOWED)).status == 200


async def test_a_websocket_that_a_rule_allows_is_relayed_and_counted(world: Egress) -> None:
    """CASE-12; CASE-25: nothing in it is taken for a place to put a secret."""
    answer = await ask(world, TO_ALLOWED, TALK, sni=ALLOWED, enough=b"hello")
    await world.settled()
    assert answer.status == 101
    assert b"hello" in answer.body
    (decided,) = world.log.decided
    assert decided["rule"] == "socket"
    (outcome,) = world.log.outcomes
    assert (outcome["status"], outcome["result"]) == (101, "done")


async def test_what_comes_back_by_a_websocket_is_bounded_by_its_rule(world: Egress) -> None:
    rule = Rule(name="few", host=ALLOWED, paths=("/socket",), upgrade=True, max_bytes=4)
    await world.apply(sandbox(rule), other())
    answer = await ask(world, TO_ALLOWED, TALK, sni=ALLOWED, enough=b"hello")
    await world.apply(sandbox(*RULES), other())
    await world.settled()
    assert answer.status == 101
    assert b"hello" not in answer.body
    (outcome,) = world.log.outcomes
    assert outcome["result"] == "cut"
    assert "4 bytes" in outcome["detail"]["reason"]


async def test_opaque_tls_reaches_the_servers_own_certificate_and_is_counted(world: Egress) -> None:
    host = "pinned.example"
    status, out, err = await world.run(
        *("curl", "-sS", "--interface", SANDBOX, "--cacert", str(world.web.file), "-m", "5"),
        *("-x", world.url, f"https://{host}/big?bytes=200000", "-o", "/dev/null"),
        *("-w", "%{http_code} %{size_download}"),
    )
    await world.settled()
    assert (status, out, err) == (0, "200 200000", "")
    (decided,) = world.log.decided
    assert (decided["kind"], decided["sni"], decided["rule"]) == ("connect", host, "pinned")
    assert "url" not in decided
    (outcome,) = world.log.outcomes
    assert 200_000 < outcome["bytes_in"] < 210_000
    assert world.origin.hits[0].sni == host


@pytest.mark.parametrize(
    ("inner", "sni"),
    [(get("/e"), "evil.example"), (get("/e"), None), (b"GET / HTTP/1.1\r\n\r\n", "plain")],
)
async def test_an_opaque_tunnel_is_to_the_host_that_its_first_bytes_name(
    world: Egress, inner: bytes, sni: str | None
) -> None:
    """CASE-07."""
    place = connect("pinned.example:443")
    if sni == "plain":
        await ask(world, place, inner, tls=False)
    else:
        with pytest.raises(OSError, match=r"."):
            await ask(world, place, inner, sni=sni)
    await world.settled()
    (decided,) = world.log.decided
    assert decided["decision"] == "deny"
    assert world.origin.connections == 0


async def test_a_tunnel_in_which_nothing_is_asked_is_told_too(world: Egress) -> None:
    await ask(world, TO_ALLOWED, hang_up=True)
    await world.settled()
    (decided,) = world.log.decided
    assert (decided["kind"], decided["host"]) == ("connect", ALLOWED)
    assert world.log.outcome_of(decided["seq"])[0]["result"] == "unused"


async def test_a_client_that_doesnt_trust_the_proxy_is_told_of(world: Egress) -> None:
    command = ("curl", "-sS", "--interface", SANDBOX, "-x", world.url, f"https://{ALLOWED}/")
    status, _, _ = await world.run(*command)
    await world.settled()
    assert status == 60
    (decided,) = world.log.decided
    (outcome,) = world.log.outcome_of(decided["seq"])
    assert decided["kind"] == "tls"
    assert "TLS with the client" in outcome["detail"]["error"]
    assert world.origin.connections == 0


async def test_a_client_that_goes_away_leaves_an_outcome(world: Egress) -> None:
    with world.socket() as sock:
        sock.sendall(plain(f"http://{ALLOWED}/big?bytes={200 * MIB}"))
        await asyncio.to_thread(sock.recv, 1000)
    await world.settled()
    (outcome,) = world.log.outcomes
    assert outcome["result"] == "failed"
    assert outcome["bytes_in"] < 200 * MIB


async def test_a_server_is_believed_only_with_a_certificate_for_its_name(world: Egress) -> None:
    host = "untrusted.example"
    answer = await ask(world, connect(f"{host}:443"), get("/e", host), sni=host)
    await world.settled()
    assert answer.status == 502
    assert "hostname mismatch" in answer.body.decode()
    assert world.origin.hits == []


class TestBudgets:
    async def test_a_runs_bytes_end_a_download_in_the_middle(self, world: Egress) -> None:
        await world.apply(sandbox(*RULES, limits=Limits(bytes=MIB), run="frugal"), other())
        answer = await ask(world, TO_ALLOWED, get(f"/big?bytes={20 * MIB}"), sni=ALLOWED)
        after = await ask(world, TO_ALLOWED, get("/e"), sni=ALLOWED)
        await world.apply(sandbox(*RULES), other())
        assert not answer.whole
        assert len(answer.body) < 2 * MIB
        assert after.status == 403
        assert "used up" in after.body.decode()

    async def test_a_rule_that_may_be_used_once_is_used_once_also_by_two_at_a_time(
        self, world: Egress
    ) -> None:
        once = Rule(name="just once", host=ALLOWED, uses=1)
        await world.apply(sandbox(once), other())
        answers = await asyncio.gather(
            *(ask(world, TO_ALLOWED, get("/e"), sni=ALLOWED) for _ in range(4))
        )
        await world.apply(sandbox(*RULES), other())
        assert sorted(one.status for one in answers) == [200, 403, 403, 403]
        assert len(world.origin.hits) == 1


async def test_a_connection_of_plain_requests_is_kept(world: Egress) -> None:
    both = plain(f"http://{ALLOWED}/1") + plain(
        f"http://{ALLOWED}:{HTTP[1]}/2", host=f"{ALLOWED}:{HTTP[1]}"
    )
    with world.socket() as sock:
        sock.sendall(both)
        await until(lambda: len(world.origin.hits) == 2)
    assert world.origin.connections == 2
