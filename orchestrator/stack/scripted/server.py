"""The scripted model behind HTTP: one route a dialect's endpoint, one log line a request."""

import asyncio
import hmac
import itertools
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence

import structlog
from aiohttp import web

from orchestrator.stack.scripted.answers import Answer, counted
from orchestrator.stack.scripted.dialects import Dialect
from orchestrator.stack.scripted.dialects.anthropic import Anthropic
from orchestrator.stack.scripted.playing import Move, play
from orchestrator.stack.scripted.request import NotUnderstood
from orchestrator.stack.scripted.scenario import Fail, Scenario

type Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

_BODY_LIMIT_BYTES = 64 << 20
DIALECTS: Sequence[Dialect] = (Anthropic(),)

_log = structlog.get_logger("scripted_model")


def make_app(scenario: Scenario, api_key: str | None = None) -> web.Application:
    """The server as an aiohttp application. With `api_key` all other keys are answered 401."""
    app = web.Application(client_max_size=_BODY_LIMIT_BYTES)
    for dialect in DIALECTS:
        server = _Server(scenario, dialect, api_key)
        for path, purpose in dialect.paths.items():
            app.router.add_post(path, server.answer if purpose == "answer" else server.count)
    return app


async def serve(
    scenario: Scenario,
    *,
    port: int,
    host: str = "127.0.0.1",
    api_key: str | None = None,
    on_ready: Callable[[str, int], None] = lambda _host, _port: None,
) -> None:
    """Serve until cancelled. `on_ready` is told host and port (port 0: a free one is taken).

    Raises:
        OSError: the address can't be listened on.
    """
    runner = web.AppRunner(
        make_app(scenario, api_key),
        access_log=None,
        handler_cancellation=True,
        shutdown_timeout=1.0,
    )
    await runner.setup()
    try:
        site = web.TCPSite(runner, host, port)
        await site.start()
        on_ready(host, runner.addresses[0][1])
        await asyncio.Event().wait()
    finally:
        await runner.cleanup()


class _Server:
    """Answers one dialect. `_failed` counts what a `fail` with `times` needs; nothing else is kept."""

    def __init__(self, scenario: Scenario, dialect: Dialect, api_key: str | None) -> None:
        self._scenario = scenario
        self._dialect = dialect
        self._api_key = api_key
        self._failed: Counter[tuple[str, Fail]] = Counter()

    async def count(self, request: web.Request) -> web.StreamResponse:
        if refusal := self._unauthorised(request):
            return refusal
        return web.json_response(self._dialect.count(counted(len(await request.read()))))

    async def answer(self, request: web.Request) -> web.StreamResponse:
        if refusal := self._unauthorised(request):
            return refusal
        try:
            asked = self._dialect.read(await request.read(), request.path)
        except NotUnderstood as error:
            return self._error(400, str(error))
        move = play(asked, self._scenario)
        fail = self._due(move)
        self._note(move, fail)
        await asyncio.sleep(move.answer.delay_s)
        if fail is not None and fail.status is not None:
            headers = (
                {} if fail.retry_after_s is None else {"retry-after": f"{fail.retry_after_s:g}"}
            )
            return self._error(fail.status, fail.message, headers)
        if asked.stream:
            return await self._stream(request, move.answer, cut=fail is not None)
        if fail is not None:
            _cut(request)
        return web.json_response(self._dialect.whole(move.answer), headers=_request_id(move.answer))

    def _due(self, move: Move) -> Fail | None:
        for fail in move.fails:
            key = (move.answer.point, fail)
            if fail.times is None or self._failed[key] < fail.times:
                self._failed[key] += 1
                return fail
        return None

    def _note(self, move: Move, fail: Fail | None) -> None:
        if move.mismatch is not None:
            _log.warning("conversation_ended", where=move.where, reason=move.mismatch)
        elif fail is not None:
            _log.info("failed_as_told", where=str(fail.place), status=fail.status or "cut")
        else:
            called = [call.name for call in move.answer.calls]
            tokens = move.answer.tokens
            _log.info(
                "answered", where=move.where, calls=called, tokens=(tokens.input, tokens.output)
            )

    async def _stream(
        self, request: web.Request, answer: Answer, *, cut: bool
    ) -> web.StreamResponse:
        headers = {"Cache-Control": "no-cache", **_request_id(answer)}
        response = web.StreamResponse(headers=headers)
        response.content_type = "text/event-stream"
        response.charset = "utf-8"
        await response.prepare(request)
        pieces = list(self._dialect.pieces(answer))
        pause_s = answer.stream_s / len(pieces)
        for piece in itertools.islice(pieces, len(pieces) // 2 if cut else None):
            await response.write(piece)
            await asyncio.sleep(pause_s)
        if cut:
            _cut(request)
        else:
            await response.write_eof()
        return response

    def _unauthorised(self, request: web.Request) -> web.Response | None:
        if self._api_key is None:
            return None
        bearer = request.headers.get("Authorization", "").removeprefix("Bearer ")
        shown = (request.headers.get("x-api-key", ""), bearer)
        expected = self._api_key.encode()
        if any(hmac.compare_digest(key.encode(), expected) for key in shown):
            return None
        _log.warning("key_refused", path=request.path)
        return self._error(401, "scripted model: the key is not the one that was given at start")

    def _error(
        self, status: int, message: str, headers: dict[str, str] | None = None
    ) -> web.Response:
        return web.json_response(
            self._dialect.error(status, message), status=status, headers=headers
        )


def _cut(request: web.Request) -> None:
    if request.transport is not None:
        request.transport.abort()


def _request_id(answer: Answer) -> dict[str, str]:
    return {"request-id": f"req_{answer.point}"}
