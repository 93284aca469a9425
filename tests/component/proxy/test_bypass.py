"""Ways round the policy, each tried raw against the running proxy: refused, told once, nobody reached."""

from dataclasses import dataclass, field
from typing import Any

import pytest

from proxy.decision import Cause
from tests.servers.asking import ask, connect, line, plain
from tests.servers.egress import (
    ALLOWED,
    OTHER,
    OTHER_TOKEN,
    PORT,
    PROXY,
    SANDBOX,
    TOKEN,
    Egress,
    credentials,
)

pytestmark = pytest.mark.asyncio(loop_scope="module")
HTTP = f"http://{ALLOWED}/e"
TO_ALLOWED = connect(f"{ALLOWED}:443")
GET = line("GET", "/e", host=ALLOWED)


@dataclass(frozen=True)
class Try:
    """What is sent, and what must come of it."""

    first: bytes
    inner: bytes = b""
    status: int = 403
    cause: Cause = Cause.HOST
    sni: str | None = ALLOWED
    tls: bool = True
    source: str = SANDBOX
    hang_up: bool = False
    records: int = 1
    decisions: list[str] = field(default_factory=lambda: ["deny"])


def proxied(
    url: str, *headers: str, host: str = ALLOWED, method: str = "GET", **wanted: Any
) -> Try:
    return Try(plain(url, *headers, host=host, method=method), **wanted)


def tunnelled(inner: bytes, place: str = f"{ALLOWED}:443", **wanted: Any) -> Try:
    return Try(connect(place), inner, **wanted)


BAD: dict[str, Any] = {"status": 400, "cause": Cause.MALFORMED}
ELSEWHERE: dict[str, Any] = {"status": 421, "cause": Cause.DISAGREEMENT}
NO_BODY: dict[str, Any] = {"status": 413, "cause": Cause.BODY}
WEBSOCKET = (
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
)
NOT_ASKED_FOR: dict[str, Any] = {"status": 407, "cause": Cause.NO_IDENTITY}
FOREIGN: dict[str, Any] = {"cause": Cause.FOREIGN_IDENTITY}

TRIES: dict[str, Try] = {
    # Who it is
    "no token": Try(line("GET", HTTP, host=ALLOWED), **NOT_ASKED_FOR),
    "no token for a tunnel": Try(
        line("CONNECT", f"{ALLOWED}:443", host=f"{ALLOWED}:443"), **NOT_ASKED_FOR
    ),
    "wrong token": Try(plain(HTTP, token="x"), **FOREIGN),
    "another sandbox's token": Try(plain(HTTP, token=OTHER_TOKEN), **FOREIGN),
    "its token from elsewhere": Try(plain(HTTP), source=OTHER, **FOREIGN),
    "its token from the proxy's own address": Try(plain(HTTP), source=PROXY, **FOREIGN),
    "another user's name": Try(
        line("GET", HTTP, f"Proxy-Authorization: {credentials(TOKEN, 'root')}", host=ALLOWED),
        **NOT_ASKED_FOR,
    ),
    "a bearer token": Try(
        line("GET", HTTP, f"Proxy-Authorization: Bearer {TOKEN}", host=ALLOWED), **NOT_ASKED_FOR
    ),
    "a sandbox that may reach nothing": Try(plain(HTTP, token=OTHER_TOKEN), source=OTHER),
    # Where to
    "http to a host not listed": proxied("http://evil.example/log?token=x", host="evil.example"),
    "tunnel to a host not listed": tunnelled(
        line("GET", "/", host="evil.example"), "evil.example:443", sni="evil.example"
    ),
    "tunnel to an address": tunnelled(GET, "11.0.0.10:443", **BAD),
    "tunnel to an IPv6 address": tunnelled(GET, "[2606:4700::1]:443", **BAD),
    "tunnel to a mapped address": tunnelled(GET, "[::ffff:11.0.0.10]:443", **BAD),
    "decimal address": proxied("http://184549386/e", host="184549386", **BAD),
    "hex address": proxied("http://0xb00000a/e", host="0xb00000a", **BAD),
    "octal address": proxied("http://013.0.0.012/e", host="013.0.0.012", **BAD),
    "short address": proxied("http://127.1/e", host="127.1", **BAD),
    "metadata": proxied("http://169.254.169.254/latest/meta-data/", host="169.254.169.254", **BAD),
    "localhost": proxied("http://localhost/e", host="localhost", **BAD),
    "tunnel to port 22": tunnelled(b"SSH-2.0-x\r\n", f"{ALLOWED}:22", tls=False, cause=Cause.PORT),
    "tunnel to port 53": tunnelled(b"\0\0", f"{ALLOWED}:53", tls=False, cause=Cause.PORT),
    "tunnel to the proxy itself": tunnelled(GET, f"{PROXY}:{PORT}", **BAD),
    "suffix": proxied(f"http://{ALLOWED}.evil.example/e", host=f"{ALLOWED}.evil.example"),
    "prefix": proxied(f"http://evil{ALLOWED}/e", host=f"evil{ALLOWED}"),
    "parent of a wildcard": tunnelled(GET, "any.example:443", sni="any.example"),
    "trailing dot of another": proxied("http://evil.example./e", host="evil.example."),
    "userinfo": proxied(f"http://{ALLOWED}:80@evil.example/e", host="evil.example", **BAD),
    "userinfo in CONNECT": tunnelled(GET, f"{ALLOWED}@evil.example:443", **BAD),
    "percent-encoded NUL": proxied(f"http://{ALLOWED}%00.evil.example/e", host="x", **BAD),
    "NUL": proxied(f"http://{ALLOWED}\0.evil.example/e", host="x", **BAD),
    "percent-encoded dot": proxied("http://allowed%2eexample/e", **BAD),
    "another script's dot": Try(
        b"GET http://allowed\xe3\x80\x82example/e HTTP/1.1\r\nHost: allowed.example\r\n"
        + f"Proxy-Authorization: {credentials()}\r\n\r\n".encode(),
        **BAD,
    ),
    "ftp": proxied(f"ftp://{ALLOWED}:21/x", host=f"{ALLOWED}:21", cause=Cause.SCHEME),
    "https without a tunnel": proxied(f"https://{ALLOWED}/e", **BAD),
    "mitmproxy's own host": proxied("http://mitm.it/", host="mitm.it"),
    # Who says so: CONNECT host, SNI, Host and target
    "SNI of another": tunnelled(GET, sni="evil.example", **ELSEWHERE),
    "no SNI": tunnelled(GET, sni=None, **BAD),
    "Host of another": tunnelled(line("GET", "/e", host="evil.example"), **ELSEWHERE),
    "Host of another with a port": tunnelled(
        line("GET", "/e", host="evil.example:443"), **ELSEWHERE
    ),
    "Host with another port": tunnelled(line("GET", "/e", host=f"{ALLOWED}:8443"), **ELSEWHERE),
    "absolute form in a tunnel": tunnelled(
        line("GET", "https://evil.example/e", host=ALLOWED), **ELSEWHERE
    ),
    "absolute form with another scheme in a tunnel": tunnelled(
        line("GET", f"http://{ALLOWED}:80/e", host=ALLOWED), **ELSEWHERE
    ),
    "Host of another than the target": proxied(HTTP, host="evil.example", **ELSEWHERE),
    "target of another than Host": proxied("http://evil.example/e", **ELSEWHERE),
    "two Host headers": proxied(HTTP, "Host: evil.example", **BAD),
    "no Host header": proxied(HTTP, host="", **BAD),
    "CONNECT with another Host": Try(
        line(
            "CONNECT",
            f"{ALLOWED}:443",
            f"Proxy-Authorization: {credentials()}",
            host="evil.example:443",
        ),
        **ELSEWHERE,
    ),
    "origin form": Try(
        line("GET", "/e", f"Proxy-Authorization: {credentials()}", host=ALLOWED), **BAD
    ),
    "asterisk form": Try(
        line("OPTIONS", "*", f"Proxy-Authorization: {credentials()}", host=ALLOWED), **BAD
    ),
    "http in a tunnel with another Host": tunnelled(
        line("GET", "/e", host="evil.example"), f"{ALLOWED}:80", tls=False, **ELSEWHERE
    ),
    "nested CONNECT": tunnelled(connect("evil.example:443"), **BAD),
    # What
    "POST": proxied(HTTP, "Content-Length: 3", method="POST", status=405, cause=Cause.METHOD),
    "PUT in a tunnel": tunnelled(
        line("PUT", "/e", "Content-Length: 0", host=ALLOWED), status=405, cause=Cause.METHOD
    ),
    "TRACE": proxied(HTTP, method="TRACE", status=405, cause=Cause.METHOD),
    "lower-case method": proxied(HTTP, method="get", **BAD),
    "POST to another path than allowed": tunnelled(
        line("POST", "/post%2f..%2fe", "Content-Length: 0", host=ALLOWED), **BAD
    ),
    "GET with a body": Try(plain(HTTP, "Content-Length: 3") + b"abc", **NO_BODY),
    "chunked GET": Try(
        plain(HTTP, "Transfer-Encoding: chunked") + b"3\r\nabc\r\n0\r\n\r\n", **NO_BODY
    ),
    "TE and CL": Try(
        plain(HTTP, "Transfer-Encoding: chunked", "Content-Length: 3")
        + b"0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n",
        **BAD,
    ),
    "two lengths": proxied(HTTP, "Content-Length: 0", "Content-Length: 30", **BAD),
    "signed length": proxied(HTTP, "Content-Length: +0", **BAD),
    "unknown coding": Try(plain(HTTP, "Transfer-Encoding: xchunked") + b"abc", **BAD),
    "coding in a folded line": proxied(HTTP, "X: a\r\n Transfer-Encoding: chunked", **BAD),
    "blank before the colon": Try(plain(HTTP, "Transfer-Encoding : chunked") + b"0\r\n\r\n", **BAD),
    "bare LF": Try(plain(HTTP, "X: a\nContent-Length: 5") + b"hello", **NO_BODY),
    "long URL": proxied(HTTP + "a" * 5000, status=414, cause=Cause.URL_LENGTH),
    "large header": proxied(HTTP, "X: " + "a" * 20000, status=431, cause=Cause.HEADER_SIZE),
    "a head without end": Try(
        plain(HTTP, "X: " + "a" * 100_000)[:-4], status=0, cause=Cause.MALFORMED
    ),
    "dot segments": tunnelled(line("GET", "/a/%2e%2e/b", host=ALLOWED), **BAD),
    "websocket": proxied(HTTP, *WEBSOCKET, cause=Cause.UPGRADE),
    "h2c": proxied(
        HTTP,
        "Connection: Upgrade, HTTP2-Settings",
        "Upgrade: h2c",
        "HTTP2-Settings: AAMA",
        cause=Cause.UPGRADE,
    ),
    "HTTP/2 in a tunnel": tunnelled(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0", **BAD),
    "HTTP/3.0": Try(plain(HTTP).replace(b"HTTP/1.1", b"HTTP/3.0", 1), **BAD),
    "SSH in a tunnel": tunnelled(
        b"SSH-2.0-evil\r\n", tls=False, hang_up=True, status=0, cause=Cause.MALFORMED
    ),
    "TLS to the proxy itself": Try(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\r\n\r\n", **BAD),
    "a held host": tunnelled(
        line("GET", "/x", host="held.example"),
        "held.example:443",
        sni="held.example",
        cause=Cause.HELD,
        decisions=["hold"],
    ),
}


@pytest.mark.parametrize("name", TRIES)
async def test_a_way_round_is_refused_told_once_and_reaches_nobody(
    world: Egress, name: str
) -> None:
    """CASE-05, CASE-06, CASE-07, CASE-08, CASE-09, CASE-10, CASE-11, CASE-12, CASE-13, CASE-16."""
    one = TRIES[name]
    answer = await ask(
        world,
        one.first,
        one.inner,
        sni=one.sni,
        tls=one.tls,
        source=one.source,
        hang_up=one.hang_up,
    )
    await world.settled()
    assert answer.status == one.status, answer
    assert [record["decision"] for record in world.log.decided] == one.decisions
    assert world.log.decided[0]["detail"]["cause"] == one.cause, world.log.decided
    assert world.log.decided[0]["address"] == one.source
    assert (world.origin.connections, world.evil.connections) == (0, 0)
    assert TOKEN not in str(world.log.decided)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("private", "this machine"),
        ("mapped", "carries an IPv4 address"),
        ("metadata", "metadata service"),
        ("own", "Sandgate's own"),
        ("ours", "this machine"),
        ("internal", "not a public address"),
        ("mixed", "this machine"),
    ],
)
async def test_an_allowed_name_leads_nowhere_but_to_public_addresses(
    world: Egress, name: str, reason: str
) -> None:
    """CASE-15."""
    host = f"{name}.example"
    for first, inner in (
        (plain(f"http://{host}/e", host=host), b""),
        (connect(f"{host}:443"), line("GET", "/e", host=host)),
    ):
        world.forget()
        answer = await ask(world, first, inner, sni=host)
        await world.settled()
        assert answer.status == 502
        assert reason in answer.body.decode()
        (decided,) = world.log.decided
        (outcome,) = world.log.outcome_of(decided["seq"])
        assert outcome["result"] == "refused"
        assert reason in outcome["detail"]["reason"]
        assert outcome["bytes_out"] == 0
        assert "target" not in outcome
        assert world.origin.connections == 0


async def test_a_name_that_leads_elsewhere_the_second_time_is_refused_then(world: Egress) -> None:
    """CASE-15: one lookup a connection, and what it said is what is dialled."""
    request = plain("http://rebind.example/e", host="rebind.example")
    first = await ask(world, request)
    second = await ask(world, request)
    await world.settled()
    assert (first.status, second.status) == (200, 502)
    assert world.origin.connections == 1
    assert world.names.asked["rebind.example"] == 2


async def test_a_connection_that_is_reused_goes_where_the_first_lookup_said(world: Egress) -> None:
    await ask(world, line("GET", "http://x/", host="x"))
    before = world.names.asked["sub.any.example"]
    inner = line("GET", "/1", host="sub.any.example") + line(
        "GET", "/2", "Connection: close", host="sub.any.example"
    )
    answer = await ask(world, connect("sub.any.example:443"), inner, sni="sub.any.example")
    await world.settled()
    assert answer.status == 200
    assert world.origin.connections == 1
    assert world.names.asked["sub.any.example"] == before + 1


async def test_a_second_request_behind_an_allowed_one_is_judged_by_itself(world: Egress) -> None:
    both = plain(HTTP) + plain("http://evil.example/e", host="evil.example")
    await ask(world, both)
    await world.settled()
    assert [one["decision"] for one in world.log.decided] == ["allow", "deny"]
    assert (len(world.origin.hits), world.evil.connections) == (1, 0)


async def test_a_redirect_isnt_followed(world: Egress) -> None:
    answer = await ask(world, plain(f"http://{ALLOWED}/redirect"))
    await world.settled()
    assert answer.status == 302
    assert "169.254.169.254" in answer.head
    assert len(world.log.decided) == 1


async def test_http_2_isnt_offered(world: Egress) -> None:
    """CASE-14."""
    answer = await ask(world, TO_ALLOWED, GET, sni=ALLOWED, alpn=("h2", "http/1.1"))
    assert answer.alpn == "http/1.1"
    assert answer.status == 200


@pytest.mark.parametrize(
    ("first", "inner"),
    [
        (plain("http://ALLOWED.example./e", host="ALLOWED.example."), b""),
        (connect("Allowed.Example:443"), line("GET", "/e", host="ALLOWED.EXAMPLE")),
        (
            connect(f"{ALLOWED}:8443"),
            line("GET", f"https://{ALLOWED}:8443/e", host=f"{ALLOWED}:8443"),
        ),
    ],
)
async def test_another_spelling_of_an_allowed_place_goes_there_in_the_one_spelling(
    world: Egress, first: bytes, inner: bytes
) -> None:
    answer = await ask(world, first, inner, sni=ALLOWED)
    await world.settled()
    assert answer.status == 200
    (hit,) = world.origin.hits
    assert hit.line == "GET /e HTTP/1.1"
    assert (hit.header("host") or "").partition(":")[0] == ALLOWED


async def test_nothing_of_the_proxy_and_nothing_that_overrides_is_sent_on(world: Egress) -> None:
    request = plain(
        HTTP,
        "X-HTTP-Method-Override: DELETE",
        "X-Forwarded-Host: evil.example",
        "Connection: keep-alive, Proxy-Authorization, X-Mine",
        "Proxy-Connection: keep-alive",
        "X-Mine: 1",
        "Accept: */*",
    )
    await ask(world, request)
    await world.settled()
    (hit,) = world.origin.hits
    assert [name for name, _ in hit.headers] == ["Host", "Accept"]
