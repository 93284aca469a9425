"""What the proxy itself answers a client with."""

import json
from collections.abc import Mapping
from typing import Any

from mitmproxy.http import Response
from mitmproxy.net.http.http1 import assemble_response

from proxy.decision import Cause, Refusal
from proxy.identity import ASKED_FOR

_MAX_PHRASE = 200


def refusal(decision: Refusal) -> Response:
    """The reason: as text, and as the status line's phrase, for most clients show only that of a tunnel."""
    text = "".join(c if " " <= c <= "~" else "?" for c in decision.reason)
    headers = {"Content-Type": "text/plain; charset=utf-8", "Connection": "close"}
    if decision.cause is Cause.NO_IDENTITY:
        headers["Proxy-Authenticate"] = ASKED_FOR
    answer = Response.make(decision.cause.status, f"Sandgate: {text}\n", headers)
    answer.reason = text[:_MAX_PHRASE]
    return answer


def raw(answer: Response) -> bytes:
    """An answer as it goes over the wire."""
    whole: bytes = assemble_response(answer)  # type: ignore[no-untyped-call]
    return whole


def trouble(status: int, message: str) -> Response:
    """What kept an allowed request from its answer."""
    headers = {"Content-Type": "text/plain; charset=utf-8", "Connection": "close"}
    text = message.removeprefix("Connection killed: ")
    return Response.make(status, f"Sandgate: {text}\n", headers)


def as_json(content: Mapping[str, Any]) -> Response:
    """A JSON object."""
    headers = {"Content-Type": "application/json", "Connection": "close"}
    return Response.make(200, json.dumps(content) + "\n", headers)
