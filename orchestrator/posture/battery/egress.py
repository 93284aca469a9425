"""The egress proxy, asked for what it must not let through [pure].

Its policy names one host for this run, `LISTED`, which leads to nobody: what is let through is told
as unreachable. Everything else ends at the proxy, and the canaries see nothing.
"""

from collections.abc import Callable

from orchestrator.posture.battery.network import written
from orchestrator.posture.probe import Area, Arguments, Probe, Stage, Wall
from orchestrator.posture.wire import basic, filled, raw, request

LISTED = "posture.localhost"
"""A name that no resolver may send anywhere (RFC 6761, 6.3)."""
OPEN = "/open/"
"""Only paths below it are allowed there."""
UNLISTED = "elsewhere.localhost"
REFUSED = ("refused",)
_E, _I = Area.EGRESS, Wall.EGRESS_IDENTITY
_P = Wall.EGRESS_POLICY
PROXY_HEADER = "Proxy-Authorization"


def own_token(stage: Stage) -> str:
    return basic(stage.tokens.own, PROXY_HEADER)


def _through(*texts: str) -> Callable[[Stage], Arguments]:
    """Requests to the proxy; `<own>`, `<sibling>`, `<ended>` stand for headers that show a token."""

    def arguments(stage: Stage) -> Arguments:
        place, tokens = stage.place, stage.tokens
        values = {
            "own": own_token(stage),
            "sibling": basic(tokens.sibling, PROXY_HEADER),
            "ended": basic(tokens.ended, PROXY_HEADER),
            "gateway": place.gateway,
            "canary": str(place.canary),
            "door": str(place.door),
            "outside": place.outside,
            **{form: written(place.gateway, form) for form in ("decimal", "octal", "hex")},
        }
        return [place.gateway, place.egress, *(filled(text, values) for text in texts)]

    return arguments


def connect(target: str, *headers: str) -> str:
    return raw(f"CONNECT {target} HTTP/1.1", f"Host: {target}", *(headers or ("<own>",)))


def get(url: str, *headers: str, method: str = "GET", host: str = LISTED, body: str = "") -> str:
    return request(f"{method} {url}", *(headers or ("<own>",)), host=host, body=body)


def listed(path: str = "x") -> str:
    return f"http://{LISTED}{OPEN}{path}"


def refused(name: str, wall: Wall, promise: str, *texts: str, who: str = "sandbox") -> Probe:
    return Probe(
        f"egress-{name}", _E, wall, promise, "through", _through(*texts), REFUSED,
        canary=0, who=who, second_door=True,
    )  # fmt: skip


IDENTITY: tuple[Probe, ...] = (
    refused(
        "no-token", _I, "Without a token nothing goes out.",
        get(listed(), "Accept: */*"), connect(f"{LISTED}:443", "Accept: */*"),
    ),
    refused(
        "guessed-token", _I, "A guessed token opens nothing.",
        get(listed(), basic("sgr_guess", PROXY_HEADER)),
        connect(f"{LISTED}:443", basic("", PROXY_HEADER)),
    ),
    refused(
        "ended-token", _I, "The token of a run that has ended opens nothing.",
        get(listed(), "<ended>"), connect(f"{LISTED}:443", "<ended>"),
    ),
    refused(
        "siblings-token", _I, "Another sandbox's token opens nothing from here.",
        get(listed(), "<sibling>"), connect(f"{LISTED}:443", "<sibling>"),
    ),
    refused(
        "from-sibling", _I, "This run's token opens nothing from another sandbox.",
        get(listed()), connect(f"{LISTED}:443"), who="sibling",
    ),
    refused(
        "two-tokens", _I, "Two tokens at once open nothing.",
        get(listed(), "<sibling>", "<own>"), connect(f"{LISTED}:443", "<sibling>", "<own>"),
    ),
)  # fmt: skip
POLICY: tuple[Probe, ...] = (
    Probe(
        "egress-listed", _E, _P,
        "What the policy names is let through (it leads to nobody); else the others show nothing.",
        "through", _through(get(listed())), ("unreachable",), canary=0, second_door=True,
    ),
    refused(
        "unlisted-hosts", _P, "A host that no rule names is not reached.",
        get(f"http://{UNLISTED}/", host=UNLISTED), connect(f"{UNLISTED}:443"),
    ),
    refused(
        "lookalike-hosts", _P, "A name that only begins or ends like an allowed one is another.",
        connect(f"{LISTED}.elsewhere.example:443"), connect(f"x{LISTED}:443"),
        connect(f"{LISTED}@{UNLISTED}:443"), get(f"http://{LISTED}@{UNLISTED}/", host=UNLISTED),
    ),
    refused(
        "written-hosts", _P, "Percent, NUL and other dots make no other name of one.",
        connect(f"{LISTED}%00.{UNLISTED}:443"), connect(f"{LISTED}\0.{UNLISTED}:443"),
        connect("posture%2elocalhost:443"), connect("posture\xe3\x80\x82localhost:443"),
    ),
    refused(
        "addresses", _P, "No address is reached, in whichever form.",
        *(connect(f"{host}:<canary>") for host in (
            "<gateway>", "<decimal>", "<octal>", "<hex>", "[::ffff:<gateway>]", "[::1]", "127.0.0.1",
        )),
        get("http://<gateway>:<canary>/egress-addresses", host="<gateway>:<canary>"),
    ),
    refused(
        "outside", _P, "No address outside is reached either.",
        connect("<outside>:443"), get("http://<outside>/egress-outside", host="<outside>"),
    ),
    refused(
        "metadata", _P, "The metadata services of clouds are out of reach.",
        connect("169.254.169.254:80"), get("http://169.254.169.254/", host="169.254.169.254"),
        get("http://metadata.google.internal/", host="metadata.google.internal"),
    ),
    refused(
        "own-services", _P, "The entrance and the host's own services are not reached through it.",
        connect("<gateway>:<door>"), connect("localhost:<door>"),
        get("http://<gateway>:<door>/healthz", host="<gateway>:<door>"),
    ),
    refused(
        "odd-ports", _P, "No other port than the web's is reached.",
        *(connect(f"{LISTED}:{port}") for port in (22, 25, 53, 6379, 8080, 0, 65535)),
    ),
    refused(
        "methods", _P, "Nothing is written: only GET and HEAD go out.",
        *(get(listed(), method=method) for method in (
            "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "get",
        )),
    ),
    refused(
        "method-overrides", _P, "A body or an override makes no POST of a GET.",
        get(listed(), "<own>", "X-HTTP-Method-Override: POST", body="x"),
    ),
    refused(
        "paths", _P, "No path leaves the allowed ones.",
        *(get(f"http://{LISTED}{path}") for path in (
            "/closed", "/open/../closed", "/open/%2e%2e/closed", "/open/..%2fclosed", "/open\\..\\x",
        )),
    ),
    refused("long-urls", _P, "A long address carries nothing out.", get(listed("a" * 5000))),
    refused(
        "other-schemes", _P, "No other scheme is spoken.",
        get(f"ftp://{LISTED}{OPEN}x"), get(f"https://{LISTED}{OPEN}x"),
        get(f"file://{LISTED}/etc/passwd"),
    ),
    refused(
        "resolvers", _P, "No name is looked up through it: DNS over HTTPS is a host like any other.",
        connect("dns.google:443"), connect("cloudflare-dns.com:443"), connect("<outside>:853"),
    ),
)  # fmt: skip
EGRESS = (*IDENTITY, *POLICY)
