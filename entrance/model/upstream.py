"""The way to the provider and back: the key put on, the answer relayed as it comes.

Redirects are not followed, cookies not kept, and what the provider says about an error is passed
on without anything that looks like a key.
"""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from http import HTTPStatus
from io import BytesIO

import aiohttp
import orjson
from aiohttp import hdrs, web

from entrance.model.call import Call, Settler
from entrance.model.dialects import Dialect
from entrance.model.headers import back, request_id
from entrance.model.redaction import clean, redacted, unpacked
from entrance.vault.credentials import SecretHeaders

_CONNECT_S = 10.0
_SILENCE_S = 600.0
_WHOLE_S = 3600.0
_ERROR_BYTES = 64 << 10
_ANSWER_BYTES = 64 << 20
_LOOK_BYTES = 2048
"""So much of a stream goes by between two looks at its cost; the first chunk is looked at."""

_REFUSES_KEY = "The provider refuses Sandgate's key; an operator has to look at it."
_UNREACHABLE = "The provider can't be reached or broke off; try again."
_PACKED = "The provider's answer is packed and can't be metered; it is not passed on."
_ELSEWHERE = "The provider sends elsewhere; that is not followed."
_BUDGET = "The run's budget is spent; end here, a person can raise it."


def client_session(silence_s: float = _SILENCE_S) -> aiohttp.ClientSession:
    """The HTTP client for providers: bytes as they are, nothing remembered, long silences allowed."""
    return aiohttp.ClientSession(
        auto_decompress=False,
        connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=60),
        cookie_jar=aiohttp.DummyCookieJar(),
        read_bufsize=1 << 16,
        timeout=aiohttp.ClientTimeout(_WHOLE_S, sock_connect=_CONNECT_S, sock_read=silence_s),
        trust_env=False,
    )


def refuse(
    dialect: Dialect,
    status: int,
    code: str,
    message: str,
    headers: Mapping[str, str] | None = None,
) -> web.Response:
    """An error as the dialect's clients expect it."""
    return web.Response(
        status=status,
        body=orjson.dumps(dialect.error(status, code, message)),
        content_type="application/json",
        headers=headers,
    )


@dataclass(frozen=True, slots=True)
class Way:
    """Where a call goes: the URL that the secret was given out for, and what is sent there."""

    dialect: Dialect
    url: str
    headers: Mapping[str, str]
    secret: SecretHeaders = field(repr=False)


class Upstream:
    """Sends a call to its provider and relays what comes back; says on the call what came of it."""

    def __init__(self, http: aiohttp.ClientSession, settler: Settler) -> None:
        self._http = http
        self._settler = settler

    async def relay(self, request: web.Request, call: Call, way: Way) -> web.StreamResponse:
        """The answer to `request`. Never raises for what the provider does."""
        call.sent = True
        headers = {**way.headers, **way.secret}
        try:
            async with self._http.post(
                way.url, data=BytesIO(call.asked.body), headers=headers, allow_redirects=False
            ) as answer:
                call.status = answer.status
                call.request_id = clean(request_id(answer.headers), way.secret.redact)
                if answer.status >= HTTPStatus.MULTIPLE_CHOICES:
                    return await _failed(call, answer, way)
                if answer.headers.get(hdrs.CONTENT_ENCODING, "identity") != "identity":
                    return _broken(call, way, "packed_answer", _PACKED)
                if answer.content_type == "text/event-stream":
                    return await self._stream(request, call, answer, way)
                return await _whole(call, answer, way)
        except (aiohttp.ClientError, TimeoutError) as error:
            call.sent = bool(call.status)  # who has not answered has not billed
            down = isinstance(error, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError)
            return _broken(call, way, "unreachable" if down else "broke_off", _UNREACHABLE)

    async def _stream(
        self, request: web.Request, call: Call, answer: aiohttp.ClientResponse, way: Way
    ) -> web.StreamResponse:
        response = web.StreamResponse(headers=_headers(answer, way))
        call.result = "client_left"  # until it has not
        try:
            await response.prepare(request)
            async with aclosing(self._pieces(call, answer, way)) as pieces:
                async for piece in pieces:
                    await response.write(piece)
            await response.write_eof()
        except ConnectionResetError:
            call.result = "client_left"
        return response

    async def _pieces(
        self, call: Call, answer: aiohttp.ClientResponse, way: Way
    ) -> AsyncGenerator[bytes]:
        """What goes to the client, whole events at a time, with a well-formed end in any case."""
        call.meter = meter = way.dialect.meter(call.asked)
        unlooked = _LOOK_BYTES
        try:
            async for chunk in answer.content.iter_any():
                yield way.secret.redact(meter.feed(chunk))
                unlooked += len(chunk)
                if unlooked < _LOOK_BYTES:
                    continue
                unlooked = 0
                if not self._settler.affords(call):
                    call.result = "cut_at_budget"
                    yield meter.end(403, "budget", _BUDGET)
                    return
            yield way.secret.redact(meter.rest())
            call.result = "ok"
        except (aiohttp.ClientError, TimeoutError):
            call.result = "broke_off"
            yield meter.end(502, "provider", _UNREACHABLE)


async def _whole(call: Call, answer: aiohttp.ClientResponse, way: Way) -> web.Response:
    body = await _read(answer, _ANSWER_BYTES)
    if body is None:
        return _broken(call, way, "too_large", "The provider's answer is too large.")
    call.tokens = way.dialect.read_answer(body)
    call.result = "ok"
    return web.Response(
        status=answer.status, body=way.secret.redact(body), headers=_headers(answer, way)
    )


async def _failed(call: Call, answer: aiohttp.ClientResponse, way: Way) -> web.Response:
    """The provider's own error; but 401 becomes 403, which harnesses do not retry (CASE-101)."""
    if answer.status < HTTPStatus.BAD_REQUEST:
        return _broken(call, way, "redirected", _ELSEWHERE)
    call.result = "provider_error"
    call.retry_after = answer.headers.get(hdrs.RETRY_AFTER, "")[:40]
    if answer.status == HTTPStatus.UNAUTHORIZED:
        call.result = "key_refused"
        return refuse(way.dialect, 403, "provider_key", _REFUSES_KEY)
    raw = await _read(answer, _ERROR_BYTES)
    packing = answer.headers.get(hdrs.CONTENT_ENCODING, "identity").lower()
    body = unpacked(raw, packing, _ERROR_BYTES) if raw is not None else None
    if body is None:
        message = f"The provider answered {answer.status}."
        return refuse(way.dialect, answer.status, "provider_error", message)
    return web.Response(
        status=answer.status,
        body=redacted(body, way.secret.redact),
        headers=_headers(answer, way),
    )


def _broken(call: Call, way: Way, word: str, message: str) -> web.Response:
    call.result = word
    return refuse(way.dialect, 502, "provider", message)


async def _read(answer: aiohttp.ClientResponse, limit: int) -> bytes | None:
    """The whole body, or None when it is longer than `limit` bytes."""
    body = bytearray()
    async for chunk in answer.content.iter_any():
        body += chunk
        if len(body) > limit:
            return None
    return bytes(body)


def _headers(answer: aiohttp.ClientResponse, way: Way) -> dict[str, str]:
    passed = back(answer.headers)
    return {name: clean(value, way.secret.redact) for name, value in passed.items()}
