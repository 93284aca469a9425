"""The way to the provider and back: the key put on, the answer relayed as it comes.

Redirects are not followed, cookies not kept. What goes wrong is up to `failing`.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from http import HTTPStatus
from io import BytesIO

import aiohttp
from aiohttp import hdrs, web

from entrance.model.call import Call, Settler
from entrance.model.dialects.trouble import Fault, Trouble, kind_of
from entrance.model.failing import broken, failed, word_of
from entrance.model.headers import request_id
from entrance.model.redaction import clean
from entrance.model.way import Way, headers_back, read

_CONNECT_S = 10.0
_SILENCE_S = 600.0
_STREAM_SILENCE_S = 240.0
"""Shorter than any harness waits, so that the record can say who fell silent."""
_WHOLE_S = 3600.0
_ANSWER_BYTES = 64 << 20
_LOOK_BYTES = 2048
"""So much of a stream goes by between two looks at its cost; the first chunk is looked at."""

_BUDGET = "The run's budget is spent; end here, a person can raise it."


def client_session(silence_s: float = _SILENCE_S) -> aiohttp.ClientSession:
    """The HTTP client for providers: bytes as they are, nothing remembered, long silences allowed."""
    return aiohttp.ClientSession(
        auto_decompress=False,
        connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=60),
        cookie_jar=aiohttp.DummyCookieJar(),
        read_bufsize=1 << 16,
        timeout=_patience(silence_s),
        trust_env=False,
    )


def _patience(silence_s: float) -> aiohttp.ClientTimeout:
    return aiohttp.ClientTimeout(_WHOLE_S, sock_connect=_CONNECT_S, sock_read=silence_s)


class Upstream:
    """Sends a call to its provider and relays what comes back; says on the call what came of it."""

    def __init__(self, http: aiohttp.ClientSession, settler: Settler) -> None:
        self._http = http
        self._settler = settler

    async def relay(self, request: web.Request, call: Call, way: Way) -> web.StreamResponse:
        """The answer to `request`. Never raises for what the provider does."""
        call.sent, call.heard_at = True, self._settler.clock()
        try:
            async with self._http.post(
                way.url,
                data=BytesIO(call.asked.body),
                headers={**way.headers, **way.secret},
                allow_redirects=False,
                timeout=self._patience(call),
            ) as answer:
                call.status = answer.status
                call.request_id = clean(request_id(answer.headers), way.secret.redact)
                if answer.status >= HTTPStatus.MULTIPLE_CHOICES:
                    return await failed(call, answer, way)
                if answer.headers.get(hdrs.CONTENT_ENCODING, "identity") != "identity":
                    return broken(call, way, "packed_answer")
                if answer.content_type == "text/event-stream":
                    return await self._stream(request, call, answer, way)
                return await _whole(call, answer, way)
        except (aiohttp.ClientError, TimeoutError) as error:
            call.sent = bool(call.status)  # who has not answered has not billed
            return broken(call, way, word_of(error))

    def _patience(self, call: Call) -> aiohttp.ClientTimeout:
        silence_s = self._http.timeout.sock_read or _SILENCE_S
        if call.asked.streams:
            return _patience(min(silence_s, _STREAM_SILENCE_S))
        return self._http.timeout

    async def _stream(
        self, request: web.Request, call: Call, answer: aiohttp.ClientResponse, way: Way
    ) -> web.StreamResponse:
        response = web.StreamResponse(headers=headers_back(answer, way))
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
                call.heard_at = self._settler.clock()
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
        except (aiohttp.ClientError, TimeoutError) as error:
            yield meter.end(502, "provider", call.fail(word_of(error)))
            return
        if not meter.over:
            yield meter.end(502, "provider", call.fail("broke_off"))
        elif meter.fault:
            call.result, call.trouble = "provider_error", _told(meter.fault, way)
        else:
            call.result = "ok"


def _told(fault: Fault, way: Way) -> Trouble:
    """The trouble that the provider tells of in the middle of a stream."""
    kind = kind_of(HTTPStatus.OK, fault, way.dialect.faults)
    return Trouble(kind, clean(fault.message, way.secret.redact))


async def _whole(call: Call, answer: aiohttp.ClientResponse, way: Way) -> web.Response:
    body = await read(answer, _ANSWER_BYTES)
    if body is None:
        return broken(call, way, "too_large")
    call.tokens = way.dialect.read_answer(body)
    call.result = "ok"
    return web.Response(
        status=answer.status, body=way.secret.redact(body), headers=headers_back(answer, way)
    )
