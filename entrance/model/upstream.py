"""The way to the provider and back: the key put on, the answer relayed as it comes.

Redirects are not followed, cookies not kept, and what the provider says about an error is passed
on without anything that looks like a key.
"""

import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from http import HTTPStatus
from io import BytesIO

import aiohttp
from aiohttp import hdrs, web

from entrance.answers import refusal
from entrance.model.call import Call
from entrance.model.dialects import Dialect
from entrance.model.headers import back
from entrance.model.prices import PriceList
from entrance.vault.credentials import SecretHeaders

_CONNECT_S = 10.0
_SILENCE_S = 600.0
_WHOLE_S = 3600.0
_ERROR_BYTES = 64 << 10
_ANSWER_BYTES = 64 << 20
_KEYS = re.compile(rb"\b(sk-[A-Za-z0-9_-]{8,}|AIza[A-Za-z0-9_-]{20,}|sgr_[A-Za-z0-9_-]{8,})")

_REFUSES_KEY = "The provider refuses Sandgate's key; an operator has to look at it."
_UNREACHABLE = "The provider can't be reached or broke off; try again."
_PACKED = "The provider's answer is packed and can't be metered; it is not passed on."
_ELSEWHERE = "The provider sends elsewhere; that is not followed."
_BUDGET = "The run's budget is spent; end here, a person can raise it."


def client_session() -> aiohttp.ClientSession:
    """The HTTP client for providers: bytes as they are, nothing remembered, long silences allowed."""
    return aiohttp.ClientSession(
        auto_decompress=False,
        connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=60),
        cookie_jar=aiohttp.DummyCookieJar(),
        read_bufsize=1 << 16,
        timeout=aiohttp.ClientTimeout(_WHOLE_S, sock_connect=_CONNECT_S, sock_read=_SILENCE_S),
        trust_env=False,
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

    def __init__(self, http: aiohttp.ClientSession, prices: PriceList) -> None:
        self._http = http
        self._prices = prices

    async def relay(self, request: web.Request, call: Call, way: Way) -> web.StreamResponse:
        """The answer to `request`. Never raises for what the provider does."""
        call.sent = True
        headers = {**way.headers, **way.secret}
        try:
            async with self._http.post(
                way.url, data=BytesIO(call.asked.body), headers=headers, allow_redirects=False
            ) as answer:
                call.status = answer.status
                call.request_id = answer.headers.get("request-id", "")[:200]
                if answer.status >= HTTPStatus.MULTIPLE_CHOICES:
                    return await _failed(request, call, answer, way.secret)
                if answer.headers.get(hdrs.CONTENT_ENCODING, "identity") != "identity":
                    return _broken(request, call, "packed_answer", _PACKED)
                if answer.content_type == "text/event-stream":
                    return await self._stream(request, call, answer, way)
                return await _whole(request, call, answer, way)
        except (aiohttp.ClientError, TimeoutError) as error:
            call.sent = bool(call.status)  # who has not answered has not billed
            down = isinstance(error, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError)
            return _broken(request, call, "unreachable" if down else "broke_off", _UNREACHABLE)

    async def _stream(
        self, request: web.Request, call: Call, answer: aiohttp.ClientResponse, way: Way
    ) -> web.StreamResponse:
        response = web.StreamResponse(headers=_clean(back(answer.headers), way.secret))
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
        call.meter = meter = way.dialect.meter()
        try:
            async for chunk in answer.content.iter_any():
                yield way.secret.redact(meter.feed(chunk))
                if not meter.final and call.past_budget(self._prices):
                    call.result = "cut_at_budget"
                    yield way.dialect.stream_error(403, "budget", _BUDGET)
                    return
            yield way.secret.redact(meter.rest())
            call.result = "ok"
        except (aiohttp.ClientError, TimeoutError):
            call.result = "broke_off"
            yield way.dialect.stream_error(502, "provider", _UNREACHABLE)


async def _whole(
    request: web.Request, call: Call, answer: aiohttp.ClientResponse, way: Way
) -> web.Response:
    body = await _read(answer, _ANSWER_BYTES)
    if body is None:
        return _broken(request, call, "too_large", "The provider's answer is too large.")
    call.tokens = way.dialect.read_answer(body)
    call.result = "ok"
    return web.Response(
        status=answer.status,
        body=way.secret.redact(body),
        headers=_clean(back(answer.headers), way.secret),
    )


async def _failed(
    request: web.Request, call: Call, answer: aiohttp.ClientResponse, secret: SecretHeaders
) -> web.Response:
    """The provider's own error; but 401 becomes 403, which harnesses do not retry (CASE-101)."""
    if answer.status < HTTPStatus.BAD_REQUEST:
        return _broken(request, call, "redirected", _ELSEWHERE)
    call.result = "provider_error"
    if answer.status == HTTPStatus.UNAUTHORIZED:
        return refusal(request.path, 403, "provider_key", _REFUSES_KEY)
    body = await _read(answer, _ERROR_BYTES)
    packed = answer.headers.get(hdrs.CONTENT_ENCODING, "identity") != "identity"
    if body is None or packed:
        message = f"The provider answered {answer.status}."
        return refusal(request.path, answer.status, "provider_error", message)
    return web.Response(
        status=answer.status,
        body=_KEYS.sub(b"[redacted]", secret.redact(body)),
        headers=_clean(back(answer.headers), secret),
    )


def _broken(request: web.Request, call: Call, word: str, message: str) -> web.Response:
    call.result = word
    return refusal(request.path, 502, "provider", message)


async def _read(answer: aiohttp.ClientResponse, limit: int) -> bytes | None:
    """The whole body, or None when it is longer than `limit` bytes."""
    body = bytearray()
    async for chunk in answer.content.iter_any():
        body += chunk
        if len(body) > limit:
            return None
    return bytes(body)


def _clean(headers: Mapping[str, str], secret: SecretHeaders) -> dict[str, str]:
    return {name: secret.redact(value.encode()).decode() for name, value in headers.items()}
