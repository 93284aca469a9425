"""The egress proxy, asked for what it must not let through [pure].

Its policy names one host for this run, `LISTED`, which leads to nobody: what is let through is told
as unreachable. Everything else ends at the proxy, and the canaries see nothing.
"""

from collections.abc import Callable

from orchestrator.posture.battery.network import written
from orchestrator.posture.probe import Area, Arguments, Probe, Stage, Wall
from orchestrator.posture.wire import basic, raw, request

LISTED = "posture.localhost"
"""A name that no resolver may send anywhere (RFC 6761, 6.3)."""
OPEN = "/open/"
"""Only paths below it are allowed there."""
UNLISTED = "elsewhere.localhost"
REFUSED = ("refused",)
_E, _I = Area.EGRESS, Wall.EGRESS_IDENTITY
_P, _F = Wall.EGRESS_POLICY, Wall.EGRESS_FRAMING
PROXY_HEADER = "Proxy-Authorization"


def _own(stage: Stage) -> str:
    return basic(stage.tokens.own, PROXY_HEADER)


def _through(*texts: str) -> Callable[[Stage], Arguments]:
    """Requests to the proxy; `<own>`, `<sibling>`, `<ended>` stand for headers that show a token."""

    def arguments(stage: Stage) -> Arguments:
        place, tokens = stage.place, stage.tokens
        values = {
            "<own>": _own(stage),
            "<sibling>": basic(tokens.sibling, PROXY_HEADER),
            "<ended>": basic(tokens.ended, PROXY_HEADER),
            "<gateway>": place.gateway,
            "<canary>": str(place.canary),
            "<door>": str(place.door),
            "<outside>": place.outside,
            **{f"<{form}>": written(place.gateway, form) for form in ("decimal", "octal", "hex")},
        }
        filled = []
        for text in texts:
            for name, value in values.items():
                text = text.replace(name, value)  # noqa: PLW2901 - one text, filled in step by step
            filled.append(text)
        return [place.gateway, place.egress, *filled]

    return arguments


def _connect(target: str, *headers: str) -> str:
    return raw(f"CONNECT {target} HTTP/1.1", f"Host: {target}", *(headers or ("<own>",)))


def _get(url: str, *headers: str, method: str = "GET", host: str = LISTED, body: str = "") -> str:
    return request(f"{method} {url}", *(headers or ("<own>",)), host=host, body=body)


def _open(path: str = "x") -> str:
    return f"http://{LISTED}{OPEN}{path}"


def _no(name: str, wall: Wall, promise: str, *texts: str, who: str = "sandbox") -> Probe:
    return Probe(
        f"egress-{name}", _E, wall, promise, "through", _through(*texts), REFUSED,
        canary=0, who=who, second_door=True,
    )  # fmt: skip


def _tunnel(
    name: str, wall: Wall, promise: str, sni: str, *lines: str, expected: tuple[str, ...] = REFUSED
) -> Probe:
    def arguments(stage: Stage) -> Arguments:
        connect = _connect(f"{LISTED}:443", _own(stage))
        return [stage.place.gateway, stage.place.egress, connect, sni, raw(*lines)]

    return Probe(
        f"egress-{name}",
        _E,
        wall,
        promise,
        "tunnel",
        arguments,
        expected,
        canary=0,
        second_door=True,
    )


def _plain(name: str, promise: str, text: str) -> Probe:
    def arguments(stage: Stage) -> Arguments:
        connect = _connect(f"{LISTED}:443", _own(stage))
        return [stage.place.gateway, stage.place.egress, connect, text]

    return Probe(
        f"egress-{name}", _E, _F, promise, "plain_tunnel", arguments, ("refused", "silent"),
        canary=0, second_door=True,
    )  # fmt: skip


IDENTITY: tuple[Probe, ...] = (
    _no(
        "no-token", _I, "Without a token nothing goes out.",
        _get(_open(), "Accept: */*"), _connect(f"{LISTED}:443", "Accept: */*"),
    ),
    _no(
        "guessed-token", _I, "A guessed token opens nothing.",
        _get(_open(), basic("sgr_guess", PROXY_HEADER)),
        _connect(f"{LISTED}:443", basic("", PROXY_HEADER)),
    ),
    _no(
        "ended-token", _I, "The token of a run that has ended opens nothing.",
        _get(_open(), "<ended>"), _connect(f"{LISTED}:443", "<ended>"),
    ),
    _no(
        "siblings-token", _I, "Another sandbox's token opens nothing from here.",
        _get(_open(), "<sibling>"), _connect(f"{LISTED}:443", "<sibling>"),
    ),
    _no(
        "from-sibling", _I, "This run's token opens nothing from another sandbox.",
        _get(_open()), _connect(f"{LISTED}:443"), who="sibling",
    ),
    _no(
        "two-tokens", _I, "Two tokens at once open nothing.",
        _get(_open(), "<sibling>", "<own>"), _connect(f"{LISTED}:443", "<sibling>", "<own>"),
    ),
)  # fmt: skip
POLICY: tuple[Probe, ...] = (
    Probe(
        "egress-listed", _E, _P,
        "What the policy names is let through (it leads to nobody); else the others show nothing.",
        "through", _through(_get(_open())), ("unreachable",), canary=0, second_door=True,
    ),
    _no(
        "unlisted-hosts", _P, "A host that no rule names is not reached.",
        _get(f"http://{UNLISTED}/", host=UNLISTED), _connect(f"{UNLISTED}:443"),
    ),
    _no(
        "lookalike-hosts", _P, "A name that only begins or ends like an allowed one is another.",
        _connect(f"{LISTED}.elsewhere.example:443"), _connect(f"x{LISTED}:443"),
        _connect(f"{LISTED}@{UNLISTED}:443"), _get(f"http://{LISTED}@{UNLISTED}/", host=UNLISTED),
    ),
    _no(
        "written-hosts", _P, "Percent, NUL and other dots make no other name of one.",
        _connect(f"{LISTED}%00.{UNLISTED}:443"), _connect(f"{LISTED}\0.{UNLISTED}:443"),
        _connect("posture%2elocalhost:443"), _connect("posture\xe3\x80\x82localhost:443"),
    ),
    _no(
        "addresses", _P, "No address is reached, in whichever form.",
        *(_connect(f"{host}:<canary>") for host in (
            "<gateway>", "<decimal>", "<octal>", "<hex>", "[::ffff:<gateway>]", "[::1]", "127.0.0.1",
        )),
        _get("http://<gateway>:<canary>/egress-addresses", host="<gateway>:<canary>"),
    ),
    _no(
        "outside", _P, "No address outside is reached either.",
        _connect("<outside>:443"), _get("http://<outside>/egress-outside", host="<outside>"),
    ),
    _no(
        "metadata", _P, "The metadata services of clouds are out of reach.",
        _connect("169.254.169.254:80"), _get("http://169.254.169.254/", host="169.254.169.254"),
        _get("http://metadata.google.internal/", host="metadata.google.internal"),
    ),
    _no(
        "own-services", _P, "The entrance and the host's own services are not reached through it.",
        _connect("<gateway>:<door>"), _connect("localhost:<door>"),
        _get("http://<gateway>:<door>/healthz", host="<gateway>:<door>"),
    ),
    _no(
        "odd-ports", _P, "No other port than the web's is reached.",
        *(_connect(f"{LISTED}:{port}") for port in (22, 25, 53, 6379, 8080, 0, 65535)),
    ),
    _no(
        "methods", _P, "Nothing is written: only GET and HEAD go out.",
        *(_get(_open(), method=method) for method in (
            "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "get",
        )),
    ),
    _no(
        "method-overrides", _P, "A body or an override makes no POST of a GET.",
        _get(_open(), "<own>", "X-HTTP-Method-Override: POST", body="x"),
    ),
    _no(
        "paths", _P, "No path leaves the allowed ones.",
        *(_get(f"http://{LISTED}{path}") for path in (
            "/closed", "/open/../closed", "/open/%2e%2e/closed", "/open/..%2fclosed", "/open\\..\\x",
        )),
    ),
    _no("long-urls", _P, "A long address carries nothing out.", _get(_open("a" * 5000))),
    _no(
        "other-schemes", _P, "No other scheme is spoken.",
        _get(f"ftp://{LISTED}{OPEN}x"), _get(f"https://{LISTED}{OPEN}x"),
        _get(f"file://{LISTED}/etc/passwd"),
    ),
    _no(
        "resolvers", _P, "No name is looked up through it: DNS over HTTPS is a host like any other.",
        _connect("dns.google:443"), _connect("cloudflare-dns.com:443"), _connect("<outside>:853"),
    ),
)  # fmt: skip


def _body(name: str, promise: str, *headers: str, body: str = "0\r\n\r\n") -> Probe:
    return _no(
        name, _F, promise,
        raw(f"GET {_open()} HTTP/1.1", f"Host: {LISTED}", "<own>", *headers, body=body),
    )  # fmt: skip


FRAMING: tuple[Probe, ...] = (
    _no("get-body", _F, "A GET carries no body.", _get(_open(), body="secret")),
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
    _no(
        "host-disagrees", _F, "What the request line and its Host name must agree.",
        _get(_open(), host=UNLISTED), _get(f"http://{UNLISTED}{OPEN}x", host=LISTED),
    ),
    _no(
        "upgrades", _F, "No connection turns into another protocol.",
        raw(f"GET {_open()} HTTP/1.1", f"Host: {LISTED}", "<own>", "Upgrade: websocket",
            "Connection: Upgrade", "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="),
        raw(f"GET {_open()} HTTP/1.1", f"Host: {LISTED}", "<own>", "Upgrade: h2c",
            "Connection: Upgrade, HTTP2-Settings", "HTTP2-Settings: AAMAAABkAAQAAP__"),
    ),
    _no("http2", _F, "HTTP/2 is not spoken.", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0"),
    Probe(
        "egress-http2-in-tunnel", _E, _F, "HTTP/2 is not spoken in a tunnel either: it is not offered.",
        "protocol",
        lambda s: [s.place.gateway, s.place.egress, _connect(f"{LISTED}:443", _own(s)), LISTED],
        ("http/1.1", "none"), second_door=True,
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
EGRESS = (*IDENTITY, *POLICY, *FRAMING)
