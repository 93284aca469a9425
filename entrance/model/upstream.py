"""The way to the provider and back: the key put on, the answer relayed as it comes.

Redirects are not followed, cookies not kept. What goes wrong is up to `failing`.
"""

import asyncio
from collections.abc import Awaitable, Callable
from http import HTTPStatus

import aiohttp
from aiohttp import hdrs, web

from entrance.gated import GatedBody
from entrance.intake import read_whole
from entrance.model.call import Call, Settler
from entrance.model.dialects import StreamMeter
from entrance.model.dialects.trouble import Fault, Trouble, kind_of
from entrance.model.failing import broken, failed, word_of
from entrance.model.headers import request_id
from entrance.model.patience import Limits, Patience
from entrance.model.redaction import clean
from entrance.model.way import Way, headers_back

_CONNECT_S = 10.0
_SILENCE_S = 600.0
_STREAM_SILENCE_S = 240.0
"""Shorter than any harness waits, so that the record can say who fell silent."""
_WHOLE_S = 3600.0
_STREAMS = aiohttp.ClientTimeout(None, sock_connect=_CONNECT_S)
"""Its other limits would cost something for each event; see `patience`."""
_ANSWER_BYTES = 64 << 20
_LOOK_BYTES = 8192
"""So much of a stream goes by between two looks at it; the first chunk is looked at."""

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


class Relayed(web.StreamResponse):
    """A stream on its way back. Its head goes out with the first of its body, not in a packet of its own."""

    _send_headers_immediately = False


class Upstream:
    """Sends a call to its provider and relays what comes back; says on the call what came of it."""

    def __init__(self, http: aiohttp.ClientSession, settler: Settler) -> None:
        self._http = http
        self._settler = settler

    async def relay(self, request: web.Request, call: Call, way: Way) -> web.StreamResponse:
        """The answer to `request`. Never raises for what the provider does."""
        call.waits_since = self._settler.clock()
        try:
            async with await self._asked(call, way) as answer:
                await call.decided()  # also when it answers before it is asked
                call.status = answer.status
                call.request_id = clean(request_id(answer.headers), way.secret.redact)
                if answer.status >= HTTPStatus.MULTIPLE_CHOICES:
                    return await self._soon(call, failed(call, answer, way))
                if answer.headers.get(hdrs.CONTENT_ENCODING, "identity") != "identity":
                    return broken(call, way, "packed_answer")
                if answer.content_type == "text/event-stream":
                    return await self._stream(request, call, answer, way)
                return await self._soon(call, _whole(call, answer, way))
        except (aiohttp.ClientError, TimeoutError) as error:
            call.sent = call.sent and bool(call.status)  # who has not answered has not billed
            return broken(call, way, word_of(error))

    async def _asked(self, call: Call, way: Way) -> aiohttp.ClientResponse:
        """The provider's answer, once it has begun."""
        asking = self._http.post(
            way.url,
            data=GatedBody(call.asked.body, call.leave),
            headers={**way.headers, **way.secret},
            allow_redirects=False,
            timeout=_STREAMS if call.asked.streams else self._http.timeout,
        )
        return await self._soon(call, asking)

    async def _soon[T](self, call: Call, answer: Awaitable[T]) -> T:
        """What is to be there in one piece. Raises: TimeoutError when the provider is silent for too long."""
        async with asyncio.timeout(self._silence_s(call)):
            return await answer

    def _silence_s(self, call: Call) -> float:
        most = self._http.timeout.sock_read or _SILENCE_S
        return min(most, _STREAM_SILENCE_S) if call.asked.streams else most

    async def _stream(
        self, request: web.Request, call: Call, answer: aiohttp.ClientResponse, way: Way
    ) -> web.StreamResponse:
        response = Relayed(headers=headers_back(answer, way))
        call.result = "client_left"  # until it has not
        limits = Limits(self._silence_s(call), _WHOLE_S)
        try:
            await response.prepare(request)
            with Patience(call, answer, limits, self._settler.clock):
                end = await self._pumped(call, answer, way, request.writer.write)
            await response.write_eof(end)
        except ConnectionResetError:
            call.result = "client_left"
        return response

    async def _pumped(
        self,
        call: Call,
        answer: aiohttp.ClientResponse,
        way: Way,
        write: Callable[[bytes], Awaitable[None]],
    ) -> bytes:
        """Send on whole events as they come; what is left to be sent then, for a well-formed end.

        As few steps as can be: each is taken for every event of every stream. What can wait for the
        next look, waits.
        """
        read, redact, clock = answer.content.readany, way.secret.redact, self._settler.clock
        call.meter = meter = way.dialect.meter(call.asked)
        unlooked, came = _LOOK_BYTES, list[bytes]()
        try:
            while True:
                call.waits_since = clock()
                try:
                    chunk = await read()
                except (aiohttp.ClientError, TimeoutError) as error:
                    return meter.end(502, "provider", call.fail(word_of(error)))
                call.waits_since = None
                if not chunk:
                    return _ended(call, meter, way)
                came.append(chunk)
                await write(redact(meter.feed(chunk)))
                unlooked += len(chunk)
                if unlooked >= _LOOK_BYTES:
                    unlooked = 0
                    call.came.feed(b"".join(came))
                    came.clear()
                    if not self._settler.affords(call):
                        call.result = "cut_at_budget"
                        return meter.end(403, "budget", _BUDGET)
        finally:
            call.came.feed(b"".join(came))


def _ended(call: Call, meter: StreamMeter, way: Way) -> bytes:
    """What is left of a stream that has ended by itself, in good order or not."""
    left = way.secret.redact(meter.rest())
    if not meter.over:
        return left + meter.end(502, "provider", call.fail("broke_off"))
    call.result = "ok"
    if meter.fault:
        call.result, call.trouble = "provider_error", _told(meter.fault, way)
    return left


def _told(fault: Fault, way: Way) -> Trouble:
    """The trouble that the provider tells of in the middle of a stream."""
    kind = kind_of(HTTPStatus.OK, fault, way.dialect.faults)
    return Trouble(kind, clean(fault.message, way.secret.redact_all))


async def _whole(call: Call, answer: aiohttp.ClientResponse, way: Way) -> web.Response:
    body = await read_whole(answer, _ANSWER_BYTES, call.came)
    if body is None:
        return broken(call, way, "too_large")
    call.tokens = way.dialect.read_answer(body)
    call.result = "ok"
    return web.Response(
        status=answer.status, body=way.secret.redact(body), headers=headers_back(answer, way)
    )
