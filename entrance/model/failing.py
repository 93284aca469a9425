"""What the sandbox is told, and the record, when a provider does not give an answer.

Its own error comes back as it is, but for keys in it. What is wrong with Sandgate's key is no
business of the sandbox: it gets the status at which its harness stops, and words for a person.
"""

from http import HTTPStatus
from math import ceil

import aiohttp
from aiohttp import hdrs, web

from entrance.intake import read_whole
from entrance.model.call import Call
from entrance.model.dialects.reading import json_in
from entrance.model.dialects.trouble import Fault, Trouble, fault_in, in_short, kind_of
from entrance.model.headers import retry_after
from entrance.model.redaction import clean, redacted, unpacked
from entrance.model.way import Way, headers_back, refuse

_ERROR_BYTES = 64 << 10
LONGEST_WAIT_S = 600.0
"""Nobody is kept waiting longer by a rate limit: a run that ends tells a person when it lifts, while
Codex would sit in its sandbox for hours without a word."""
USUAL_WAIT_S = 10
"""For a provider that doesn't say: Codex gives up at once where no time is named."""
_REFUSES_KEY = "The provider refuses Sandgate's key; an operator has to look at it."


def word_of(error: aiohttp.ClientError | TimeoutError) -> str:
    """What came of a call that ended like this."""
    match error:
        case aiohttp.ClientConnectorError() | aiohttp.ConnectionTimeoutError():
            return "unreachable"
        case TimeoutError():
            return "stalled"
        case _:
            return "broke_off"


def broken(call: Call, way: Way, word: str) -> web.Response:
    """The answer to a call of which nothing came but this."""
    return refuse(way.dialect, 502, "provider", call.fail(word))


async def failed(call: Call, answer: aiohttp.ClientResponse, way: Way) -> web.Response:
    """The answer to a call that the provider answers with an error."""
    if answer.status < HTTPStatus.BAD_REQUEST:
        return broken(call, way, "redirected")
    call.request_id = clean(call.request_id, way.secret.redact_all)
    body = await _body(call, answer, way)
    fault = _fault(body)
    kind = kind_of(answer.status, fault, way.dialect.faults)
    message = fault.message or f"The provider answered {answer.status}."
    call.result = "key_refused" if kind == "credential" else "provider_error"
    call.trouble = Trouble(kind, message)
    call.retry_after = retry_after(answer.headers) or fault.retry_after
    if kind == "credential":
        said = f"{_REFUSES_KEY} It says: {message}"
        return refuse(way.dialect, way.dialect.stop, "provider_key", said)
    wait_s = _seconds(call.retry_after)
    if kind == "rate_limit" and wait_s > LONGEST_WAIT_S:
        said = f"The provider's limit lifts in {wait_s:.0f} s; end here. It says: {message}"
        return refuse(way.dialect, way.dialect.stop, "rate_limit", said)
    headers = headers_back(answer, way)
    if kind == "rate_limit":
        headers.setdefault("retry-after", f"{ceil(wait_s) or USUAL_WAIT_S}")
    if body is None:
        return refuse(way.dialect, answer.status, "provider_error", message, headers)
    return web.Response(status=answer.status, body=body, headers=headers)


async def _body(call: Call, answer: aiohttp.ClientResponse, way: Way) -> bytes | None:
    """The provider's words without keys; None when there are too many, or they can't be unpacked."""
    raw = await read_whole(answer, _ERROR_BYTES, call.came)
    packing = answer.headers.get(hdrs.CONTENT_ENCODING, "identity").lower()
    body = unpacked(raw, packing, _ERROR_BYTES) if raw is not None else None
    return None if body is None else redacted(body, way.secret.redact_all)


def _fault(body: bytes | None) -> Fault:
    told = json_in(body or b"")
    if told is None:
        return Fault(message=in_short((body or b"").decode("utf-8", "replace")))
    return fault_in(told)


def _seconds(retry_after: str) -> float:
    """How long that is; 0 for a date, which no harness waits for, and for nothing."""
    try:
        return float(retry_after) if retry_after[:1].isdecimal() else 0.0
    except ValueError:
        return 0.0
