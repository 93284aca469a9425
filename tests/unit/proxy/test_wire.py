"""A request's form on the wire: who it names, how its body is framed, what is sent on."""

from typing import Any

import pytest

from proxy.decision import Cause, Deny
from proxy.wire import MAX_HEADERS, Wire, flaw, sent_on, tunnel_to, wants_upgrade

HOST = ("Host", "a.example")


def wire(*headers: tuple[str, str], **fields: Any) -> Wire:
    sound: dict[str, Any] = {
        "method": "GET",
        "scheme": "https",
        "host": "a.example",
        "port": 443,
        "target": "/x?y=%20",
        "authority": "",
        "version": "HTTP/1.1",
        "headers": headers or (HOST,),
        "tls": True,
        "sni": "a.example",
    }
    return Wire(**(sound | fields))


@pytest.mark.parametrize(
    "sound",
    [
        wire(),
        wire(("Host", "A.EXAMPLE.:443")),
        wire(HOST, authority="a.example"),
        wire(HOST, authority="A.example.:443", host="A.example."),
        wire(("Host", "a.example:8443"), port=8443),
        wire(HOST, scheme="http", port=80, tls=False, sni=None),
        wire(("X", "y"), version="HTTP/1.0", authority="a.example"),
        wire(HOST, ("Content-Length", "0")),
        wire(HOST, ("Content-Length", "3"), method="POST"),
        wire(HOST, ("Transfer-Encoding", "Chunked"), method="POST"),
        wire(HOST, ("Connection", "keep-alive")),
        wire(HOST, ("X", "tab\tand é")),
    ],
)
def test_a_sound_request_has_no_flaw(sound: Wire) -> None:
    assert flaw(sound) is None


@pytest.mark.parametrize(
    ("flawed", "cause"),
    [
        pytest.param(wire(("Host", "b.example")), Cause.DISAGREEMENT, id="Host of another"),
        pytest.param(
            wire(("Host", "b.example:443")), Cause.DISAGREEMENT, id="Host:port of another"
        ),
        pytest.param(
            wire(("Host", "a.example:8443")), Cause.DISAGREEMENT, id="Host with other port"
        ),
        pytest.param(wire(HOST, port=8443), Cause.DISAGREEMENT, id="Host without the port"),
        pytest.param(wire(HOST, authority="b.example"), Cause.DISAGREEMENT, id="absolute form"),
        pytest.param(wire(HOST, authority="u@a.example"), Cause.MALFORMED, id="userinfo"),
        pytest.param(wire(HOST, tls=False, sni=None), Cause.MALFORMED, id="https in clear"),
        pytest.param(wire(HOST, sni="b.example"), Cause.DISAGREEMENT, id="SNI of another"),
        pytest.param(wire(HOST, sni=None), Cause.MALFORMED, id="no SNI"),
        pytest.param(wire(HOST, sni="10.0.0.1"), Cause.MALFORMED, id="address as SNI"),
        pytest.param(wire(HOST, host="10.0.0.1"), Cause.MALFORMED, id="to an address"),
        pytest.param(wire(("X", "y")), Cause.MALFORMED, id="no Host"),
        pytest.param(
            wire(("X", "y"), version="HTTP/1.0"), Cause.MALFORMED, id="1.0, origin form, no Host"
        ),
        pytest.param(wire(HOST, HOST), Cause.MALFORMED, id="two Hosts"),
        pytest.param(wire(("Host", "a.example, b.example")), Cause.MALFORMED, id="two in one Host"),
        pytest.param(wire(HOST, version="HTTP/2.0"), Cause.MALFORMED, id="HTTP/2"),
        pytest.param(wire(HOST, method="get"), Cause.MALFORMED, id="lower-case method"),
        pytest.param(wire(HOST, target="*"), Cause.MALFORMED, id="asterisk form"),
        pytest.param(wire(HOST, target="/a b"), Cause.MALFORMED, id="blank in the target"),
        pytest.param(wire(HOST, target="/a#b"), Cause.MALFORMED, id="fragment"),
        pytest.param(wire(HOST, target="/é"), Cause.MALFORMED, id="other than ASCII"),
        pytest.param(wire(HOST, ("X", "a\nb")), Cause.MALFORMED, id="bare LF"),
        pytest.param(wire(HOST, ("X", "a\0")), Cause.MALFORMED, id="NUL"),
        pytest.param(wire(HOST, ("X ", "a")), Cause.MALFORMED, id="blank before the colon"),
        pytest.param(wire(HOST, ("X", "a" * MAX_HEADERS)), Cause.HEADER_SIZE, id="large"),
        pytest.param(wire(HOST, ("Content-Length", "3")), Cause.BODY, id="GET with a body"),
        pytest.param(wire(HOST, ("Transfer-Encoding", "chunked")), Cause.BODY, id="chunked GET"),
        pytest.param(
            wire(HOST, ("Content-Length", "3"), ("Transfer-Encoding", "chunked"), method="POST"),
            Cause.MALFORMED,
            id="TE and CL",
        ),
        pytest.param(
            wire(HOST, ("Content-Length", "3"), ("Content-Length", "3"), method="POST"),
            Cause.MALFORMED,
            id="two lengths",
        ),
        pytest.param(wire(HOST, ("Content-Length", "+0")), Cause.MALFORMED, id="signed length"),
        pytest.param(wire(HOST, ("Content-Length", "0, 0")), Cause.MALFORMED, id="list of lengths"),
        pytest.param(
            wire(HOST, ("Transfer-Encoding", "xchunked"), method="POST"),
            Cause.MALFORMED,
            id="xchunked",
        ),
        pytest.param(
            wire(HOST, ("Transfer-Encoding", "gzip, chunked"), method="POST"),
            Cause.MALFORMED,
            id="gzip",
        ),
        pytest.param(wire(HOST, ("Upgrade", "h2c")), Cause.UPGRADE, id="h2c"),
        pytest.param(wire(HOST, ("HTTP2-Settings", "AAMA")), Cause.UPGRADE, id="h2 settings"),
        pytest.param(wire(HOST, ("Connection", "Upgrade")), Cause.UPGRADE, id="upgrade to nothing"),
        pytest.param(
            wire(HOST, ("Upgrade", "websocket"), method="POST"), Cause.UPGRADE, id="by POST"
        ),
        pytest.param(
            wire(HOST, ("Upgrade", "websocket"), ("Connection", "Upgrade, HTTP2-Settings")),
            Cause.UPGRADE,
            id="both",
        ),
    ],
)
def test_a_flaw_is_found_and_named(flawed: Wire, cause: Cause) -> None:
    found = flaw(flawed)
    assert found is not None
    assert found.cause is cause
    assert found.reason


def test_a_websocket_is_left_to_the_rules() -> None:
    asking = wire(HOST, ("Upgrade", "WebSocket"), ("Connection", "keep-alive, Upgrade"))
    assert flaw(asking) is None
    assert wants_upgrade(asking)
    assert not wants_upgrade(wire())


def test_neither_the_proxys_credentials_nor_a_header_that_names_them_are_sent_on() -> None:
    sent = sent_on(
        [
            HOST,
            ("Proxy-Authorization", "Basic x"),
            ("Proxy-Connection", "keep-alive"),
            ("Connection", "Proxy-Authorization, X-Mine, Host"),
            ("x-mine", "1"),
            ("X-HTTP-Method-Override", "DELETE"),
            ("Accept", "*/*"),
            ("Content-Length", "3"),
        ]
    )
    assert sent == (HOST, ("Accept", "*/*"), ("Content-Length", "3"))


PLACE = ("Host", "a.example:443")


@pytest.mark.parametrize("headers", [(), (PLACE,), (("host", "A.example."),)])
def test_a_tunnel_leads_to_its_one_canonical_place(headers: tuple[tuple[str, str], ...]) -> None:
    assert tunnel_to("A.Example.:443", headers) == ("a.example", 443)


@pytest.mark.parametrize(
    ("authority", "headers", "cause"),
    [
        ("a.example", (), Cause.MALFORMED),
        ("10.0.0.1:443", (), Cause.MALFORMED),
        ("[::1]:443", (), Cause.MALFORMED),
        ("u@a.example:443", (), Cause.MALFORMED),
        ("a.example:443", (("Host", "u@a.example:443"),), Cause.MALFORMED),
        ("a.example:443", (("Host", "b.example:443"),), Cause.DISAGREEMENT),
        ("a.example:443", (("Host", "a.example:80"),), Cause.DISAGREEMENT),
        ("a.example:443", (PLACE, ("Host", "b.example:443")), Cause.DISAGREEMENT),
        ("a.example:443", (PLACE, ("Content-Length", "0")), Cause.BODY),
        ("a.example:443", (PLACE, ("Transfer-Encoding", "chunked")), Cause.BODY),
        ("a.example:443", (PLACE, ("X", "a" * MAX_HEADERS)), Cause.HEADER_SIZE),
    ],
)
def test_a_tunnel_that_names_no_one_place_is_refused(
    authority: str, headers: tuple[tuple[str, str], ...], cause: Cause
) -> None:
    found = tunnel_to(authority, headers)
    assert isinstance(found, Deny)
    assert found.cause is cause
