"""Requests to the egress proxy that say two things at once, and tunnels in which names disagree [pure]."""

from collections.abc import Callable

from orchestrator.posture.battery.egress import (
    LISTED,
    OPEN,
    REFUSED,
    UNLISTED,
    connect,
    get,
    listed,
    own_token,
    refused,
)
from orchestrator.posture.probe import Area, Arguments, Probe, Stage, Wall
from orchestrator.posture.wire import raw

_E = Area.EGRESS
_P, _F = Wall.EGRESS_POLICY, Wall.EGRESS_FRAMING


def _inside(*texts: str) -> Callable[[Stage], Arguments]:
    """A tunnel to the listed host, and what is said in it."""

    def arguments(stage: Stage) -> Arguments:
        opening = connect(f"{LISTED}:443", own_token(stage))
        return [stage.place.gateway, stage.place.egress, opening, *texts]

    return arguments


def _tunnel(
    name: str, wall: Wall, promise: str, sni: str, *lines: str, expected: tuple[str, ...] = REFUSED
) -> Probe:
    return Probe(
        f"egress-{name}", _E, wall, promise, "tunnel", _inside(sni, raw(*lines)), expected,
        canary=0, second_door=True,
    )  # fmt: skip


def _plain(name: str, promise: str, text: str) -> Probe:
    return Probe(
        f"egress-{name}", _E, _F, promise, "plain_tunnel", _inside(text), ("refused", "silent"),
        canary=0, second_door=True,
    )  # fmt: skip


def _body(name: str, promise: str, *headers: str, body: str = "0\r\n\r\n") -> Probe:
    return refused(
        name, _F, promise,
        raw(f"GET {listed()} HTTP/1.1", f"Host: {LISTED}", "<own>", *headers, body=body),
    )  # fmt: skip


EGRESS_FRAMING: tuple[Probe, ...] = (
    refused("get-body", _F, "A GET carries no body.", get(listed(), body="secret")),
    _body("get-chunked", "Not in chunks either.", "Transfer-Encoding: chunked",
          body="6\r\nsecret\r\n0\r\n\r\n"),
    _body("te-cl", "Two ways to say how long a body is are refused.",
          "Content-Length: 5", "Transfer-Encoding: chunked"),
    _body("two-lengths", "Two lengths are refused.", "Content-Length: 0", "Content-Length: 5"),
    _body("signed-length", "A length with a sign is refused.", "Content-Length: +0", body=""),
    _body("unknown-coding", "A coding that nobody knows is refused.", "Transfer-Encoding: xchunked"),
    _body("space-before-colon", "A blank before a colon is refused.", "X-A : b", body=""),
    _body("folded", "A header that goes on in the next line is refused.", "X-A: b\r\n c", body=""),
    _body("two-hosts", "Two hosts are refused.", f"Host: {UNLISTED}", body=""),
    refused(
        "host-disagrees", _F, "What the request line and its Host name must agree.",
        get(listed(), host=UNLISTED), get(f"http://{UNLISTED}{OPEN}x", host=LISTED),
    ),
    refused(
        "upgrades", _F, "No connection turns into another protocol.",
        raw(f"GET {listed()} HTTP/1.1", f"Host: {LISTED}", "<own>", "Upgrade: websocket",
            "Connection: Upgrade", "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="),
        raw(f"GET {listed()} HTTP/1.1", f"Host: {LISTED}", "<own>", "Upgrade: h2c",
            "Connection: Upgrade, HTTP2-Settings", "HTTP2-Settings: AAMAAABkAAQAAP__"),
    ),
    refused("http2", _F, "HTTP/2 is not spoken.", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0"),
    Probe(
        "egress-http2-in-tunnel", _E, _F, "HTTP/2 is not spoken in a tunnel either: it is not offered.",
        "protocol", _inside(LISTED), ("http/1.1", "none"), second_door=True,
    ),
    _plain(
        "plain-tunnel", "What is neither TLS nor HTTP is not carried in a tunnel.", "SSH-2.0-x\r\n"
    ),
    _plain(
        "nested-tunnel", "No tunnel is opened inside a tunnel.",
        f"CONNECT {UNLISTED}:443 HTTP/1.1\r\n\r\n",
    ),
    _plain(
        "plain-in-tunnel", "Plain HTTP inside a tunnel is judged as outside.",
        f"GET /closed HTTP/1.1\r\nHost: {UNLISTED}\r\n\r\n",
    ),
    _tunnel(
        "tunnel-listed", _P,
        "A tunnel in which all names agree is let through (to nobody); else the others show nothing.",
        LISTED, f"GET {OPEN}x HTTP/1.1", f"Host: {LISTED}", "Connection: close",
        expected=("unreachable",),
    ),
    _tunnel("tunnel-sni", _F, "The TLS name must be the tunnel's.",
            UNLISTED, f"GET {OPEN}x HTTP/1.1", f"Host: {LISTED}", "Connection: close"),
    _tunnel("tunnel-no-sni", _F, "It must be there.",
            "", f"GET {OPEN}x HTTP/1.1", f"Host: {LISTED}", "Connection: close"),
    _tunnel("tunnel-host", _F, "The Host inside must be the tunnel's.",
            LISTED, f"GET {OPEN}x HTTP/1.1", f"Host: {UNLISTED}", "Connection: close"),
    _tunnel("tunnel-absolute", _F, "No whole address inside names another.",
            LISTED, f"GET https://{UNLISTED}{OPEN}x HTTP/1.1", f"Host: {LISTED}", "Connection: close"),
    _tunnel("tunnel-path", _P, "Paths are judged inside as outside.",
            LISTED, "GET /closed HTTP/1.1", f"Host: {LISTED}", "Connection: close"),
    _tunnel("tunnel-method", _P, "So are methods.",
            LISTED, f"POST {OPEN}x HTTP/1.1", f"Host: {LISTED}", "Content-Length: 0", "Connection: close"),
)  # fmt: skip
