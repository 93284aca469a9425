"""The entrance, asked for what it must not do [pure].

What it would let through ends at the canary git host, which counts.
"""

import json
from collections.abc import Callable, Sequence

from orchestrator.posture.probe import Area, Arguments, Probe, Stage, Wall
from orchestrator.posture.wire import bearer, filled, request

GUESSED = "sgr_" + "A" * 43
_D = Area.DOOR


def asked(*requests: str) -> Callable[[Stage], Arguments]:
    """Requests to the door, with `<own>`, `<sibling>`, `<ended>`, `<canary>` ... filled in."""

    def arguments(stage: Stage) -> Arguments:
        place, tokens = stage.place, stage.tokens
        values = {
            "door": f"{place.gateway}:{place.door}",
            "own": tokens.own,
            "sibling": tokens.sibling,
            "ended": tokens.ended,
            "sibling-address": place.sibling,
            "canary": f"{place.gateway}:{place.canary}",
            "git": f"127.0.0.1:{place.git_canary}",
        }
        return [place.gateway, place.door, *(filled(one, values) for one in requests)]

    return arguments


OWN = bearer("<own>")


def _get(path: str, *headers: str) -> str:
    return request(f"GET {path}", *(headers or (OWN,)))


def _rpc(method: str, **params: object) -> str:
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    return request("POST /mcp", OWN, "Content-Type: application/json", body=body, host="<door>")


def _model(path: str, model: str = "claude-nobody") -> str:
    said = [{"role": "user", "content": "Hello."}]
    body = json.dumps({"model": model, "max_tokens": 1, "messages": said})
    return request(f"POST {path}", OWN, "Content-Type: application/json", body=body)


IDENTITY: tuple[Probe, ...] = (
    Probe(
        "token-own", _D, Wall.IDENTITY, "The run's own token is taken; else the others show nothing.",
        "asks", asked(_get("/nowhere")), ("404",),
    ),
    Probe(
        "token-none", _D, Wall.IDENTITY, "Without a token the door stays shut.",
        "asks", asked(_get("/nowhere", "Accept: */*")), ("401",),
    ),
    Probe(
        "token-guessed", _D, Wall.IDENTITY, "A guessed token opens nothing.",
        "asks", asked(_get("/nowhere", bearer(GUESSED))), ("403",),
    ),
    Probe(
        "token-two", _D, Wall.IDENTITY, "Two tokens at once open nothing.",
        "asks", asked(_get("/nowhere", OWN, "x-api-key: <sibling>")), ("403",),
    ),
    Probe(
        "token-ended", _D, Wall.IDENTITY, "The token of a run that has ended opens nothing.",
        "asks", asked(_get("/nowhere", bearer("<ended>"))), ("403",),
    ),
    Probe(
        "token-of-sibling", _D, Wall.IDENTITY, "Another sandbox's token opens nothing from here.",
        "asks", asked(_get("/nowhere", bearer("<sibling>"))), ("403",),
    ),
    Probe(
        "token-from-sibling", _D, Wall.IDENTITY, "This run's token opens nothing from another sandbox.",
        "asks", asked(_get("/nowhere")), ("403",), who="sibling",
    ),
    Probe(
        "token-forwarded", _D, Wall.IDENTITY, "No header makes an address another one.",
        "asks",
        asked(_get(
            "/nowhere", bearer("<sibling>"), "X-Forwarded-For: <sibling-address>",
            "Forwarded: for=<sibling-address>", "X-Real-IP: <sibling-address>",
            "True-Client-IP: <sibling-address>",
        )),
        ("403",),
    ),
    Probe(
        "token-in-query", _D, Wall.IDENTITY, "A token in an address is none.",
        "asks", asked(_get("/nowhere?key=<own>&access_token=<own>", "Accept: */*")), ("401",),
    ),
)  # fmt: skip


def _nothing_at(
    name: str, promise: str, *requests: str, expected: Sequence[str] = ("404",)
) -> Probe:
    return Probe(
        name, _D, Wall.ROUTES, promise, "asks_each", asked(*requests), tuple(expected), canary=0
    )


ROUTES: tuple[Probe, ...] = (
    _nothing_at(
        "runner-api", "The API for people can't be asked through the door.",
        *map(_get, ("/api/health", "/api/runs", "/api/doctor", "/api/secrets/anthropic")),
    ),
    _nothing_at(
        "engine-api", "Neither engine nor sandbox server can be asked through it.",
        *map(_get, ("/v1/sandboxes", "/v1.41/containers/json", "/_ping", "/v1/diagnostics")),
    ),
    _nothing_at(
        "store-api", "The store and the record can't be asked through it.",
        *map(_get, ("/api/collections/runs/records", "/_/", "/polarion/rest/v1/projects")),
    ),
    _nothing_at(
        "unknown-routes", "What the door doesn't know it refuses.",
        *map(_get, ("/", "/admin", "/metrics", "/debug/pprof/", "/.env", "/healthz/..", "/dns-query")),
        request("OPTIONS *", OWN), request("TRACE /", OWN), request("DELETE /mcp/x", OWN),
    ),
    _nothing_at(
        "climbing-routes", "No path climbs out of a route.",
        *map(_get, (
            "/git/../api/runs", "/git/%2e%2e/api/runs", "//api/runs", "/model/anthropic/%2e%2e/x",
            "/git/..%2f..%2fapi", "/mcp/..;/api/runs",
        )),
        expected=("403", "404", "403 404"),
    ),
    _nothing_at(
        "no-proxy", "The door is no proxy, however the target is written.",
        *(request(f"GET http://{target}/no-proxy", OWN, host=target) for target in (
            "<canary>", "169.254.169.254", "2130706433", "0x7f000001", "0177.0.0.1", "[::1]",
        )),
        request("CONNECT <canary>", OWN), request("CONNECT 203.0.113.7:443", OWN),
    ),
    _nothing_at(
        "no-relay", "No Host header sends a request elsewhere.",
        request("GET /no-relay", OWN, host="<canary>"),
        request("GET /no-relay", OWN, "X-Forwarded-Host: <canary>", "X-Original-URL: http://<canary>/"),
    ),
    _nothing_at(
        "no-upgrade", "No connection turns into another protocol.",
        request(
            "GET /nowhere", OWN, "Upgrade: websocket", "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
        ),
        request("GET /nowhere", OWN, "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQAAP__"),
    ),
    Probe(
        "http2", _D, Wall.ROUTES, "HTTP/2 is not spoken, not even without asking.",
        "asks", asked("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0"), ("400", "cut"), canary=0,
    ),
    Probe(
        "long-requests", _D, Wall.FRAMING, "What is too long is refused.",
        "asks_each",
        asked(_get("/" + "a" * 20_000), _get("/nowhere", OWN, "X: " + "b" * 40_000)),
        ("400", "414", "431", "400 414", "400 431"), canary=0,
    ),
)  # fmt: skip


COMMENT = {"name": "add_comment", "arguments": {"text": "I was here."}}
GRANTS: tuple[Probe, ...] = (
    Probe(
        "tools-none", _D, Wall.GRANTS, "A run that was granted no tool sees none.",
        "says", lambda s: [*asked(_rpc("tools/list"))(s), "none is granted to this run"], ("200 said",),
    ),
    Probe(
        "tool-by-name", _D, Wall.GRANTS, "A tool that wasn't granted can't be called by its name.",
        "says", lambda s: [*asked(_rpc("tools/call", **COMMENT))(s), '"isError":true'],
        ("200 said",),
    ),
    Probe(
        "model-not-granted", _D, Wall.GRANTS, "A model that wasn't granted isn't called.",
        "asks_each",
        asked(_model("/model/anthropic/v1/messages"), _model("/model/nobody/v1/messages")),
        ("403 404", "404"),
    ),
    Probe(
        "model-other-apis", _D, Wall.GRANTS, "No other API of a model's provider is reached.",
        "asks_each",
        asked(*map(_model, (
            "/model/anthropic/v1/files", "/model/anthropic/v1/messages/batches",
            "/model/anthropic//v1/messages", "/model/ANTHROPIC/v1/messages",
            "/model/<canary>/v1/messages",
        ))),
        ("404",), canary=0,
    ),
)  # fmt: skip
DOOR = (*IDENTITY, *ROUTES, *GRANTS)
