"""The scripted model behind HTTP: one route a dialect's endpoint, one log line a request."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

import structlog
from aiohttp import web

from orchestrator.stack.scripted import counts, keys, sending
from orchestrator.stack.scripted.answers import Answer, Tokens, counted
from orchestrator.stack.scripted.dialects import Dialect
from orchestrator.stack.scripted.dialects.anthropic import Anthropic
from orchestrator.stack.scripted.dialects.gemini import Gemini
from orchestrator.stack.scripted.dialects.openai_chat import OpenAIChat
from orchestrator.stack.scripted.dialects.openai_responses import OpenAIResponses
from orchestrator.stack.scripted.playing import Move, play
from orchestrator.stack.scripted.request import NotUnderstood, Request
from orchestrator.stack.scripted.scenario import Fail, Scenario
from orchestrator.stack.scripted.sending import Delivery
from orchestrator.stack.scripted.served import Answered, Served

type Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

_BODY_LIMIT_BYTES = 64 << 20
DIALECTS: Sequence[Dialect] = (Anthropic(), OpenAIResponses(), OpenAIChat(), Gemini())

_log = structlog.get_logger("scripted_model")


def make_app(scenario: Scenario, api_key: str | None = None) -> web.Application:
    """The server as an aiohttp application. With `api_key` all other keys are answered 401."""
    app = web.Application(client_max_size=_BODY_LIMIT_BYTES)
    served = Served()
    for dialect in DIALECTS:
        server = _Server(scenario, dialect, api_key, served)
        for path, purpose in dialect.paths.items():
            app.router.add_post(path, server.answer if purpose == "answer" else server.count)
    app.add_routes(counts.routes(served, api_key))
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
    """Answers one dialect. `_failed` counts what a `fail` with `times` needs; the next step needs nothing."""

    def __init__(
        self, scenario: Scenario, dialect: Dialect, api_key: str | None, served: Served
    ) -> None:
        self._scenario = scenario
        self._dialect = dialect
        self._api_key = api_key
        self._served = served
        self._failed: Counter[tuple[str, Fail]] = Counter()

    async def count(self, request: web.Request) -> web.StreamResponse:
        if refusal := self._unauthorised(request):
            return refusal
        return web.json_response(self._dialect.count(counted(len(await request.read()))))

    async def answer(self, request: web.Request) -> web.StreamResponse:
        if refusal := self._unauthorised(request):
            return refusal
        try:
            asked = self._dialect.read(await request.read(), request.path_qs)
        except NotUnderstood as error:
            return self._error(400, str(error))
        move = play(asked, self._scenario)
        answer = replace(move.answer, tokens=self._dialect.told(move.answer.tokens))
        fail = self._due(move, asked)
        _note(move, fail)
        count, delivery = self._served.begun(answer.model), Delivery(fail, answer.stream_s)
        try:
            await asyncio.sleep(answer.delay_s)
            if fail is not None and (fail.how == "overflow" or isinstance(fail.how, int)):
                return self._failure(fail, asked)
            return await self._send(request, asked, answer, delivery)
        finally:  # also when the client leaves, which cancels this
            self._served.ended(count, _answered(move, asked, answer, delivery))

    def _due(self, move: Move, asked: Request) -> Fail | None:
        """By the prompt: what a harness adds to a request that it tries again may differ."""
        for fail in move.fails:
            key = (asked.prompts[-1].text, fail)
            if fail.times is None or self._failed[key] < fail.times:
                self._failed[key] += 1
                return fail
        return None

    async def _send(
        self,
        request: web.Request,
        asked: Request,
        answer: Answer,
        delivery: Delivery,
    ) -> web.StreamResponse:
        headers = {self._dialect.id_header: f"req_{answer.point}"}
        try:
            if asked.stream:
                pieces = self._dialect.pieces(answer, asked)
                return await sending.stream(request, pieces, headers, delivery)
            body = self._dialect.whole(answer, asked)
            return await sending.whole(request, body, headers, delivery)
        except sending.Cut:
            return web.Response()  # nobody is there to read it

    def _failure(self, fail: Fail, asked: Request) -> web.Response:
        if not isinstance(fail.how, int):
            return web.json_response(self._dialect.overflow(counted(asked.size)), status=400)
        return self._error(fail.how, fail.message, fail.retry_after_s)

    def _unauthorised(self, request: web.Request) -> web.Response | None:
        if self._api_key is None or keys.shows(request, self._api_key):
            return None
        _log.warning("key_refused", path=request.path)
        return self._error(401, keys.REFUSED)

    def _error(self, status: int, message: str, retry_after_s: float | None = None) -> web.Response:
        body = self._dialect.error(status, message, retry_after_s)
        headers = None if retry_after_s is None else {"retry-after": f"{retry_after_s:g}"}
        return web.json_response(body, status=status, headers=headers)


def _answered(move: Move, asked: Request, answer: Answer, delivery: Delivery) -> Answered:
    """What is billed of an answer, as far as it got: nothing before its status has gone out."""
    billed = Tokens(0, 0)
    if delivery.begun:
        whole = delivery.whole
        billed = answer.tokens if whole else answer.tokens.broken_off(delivery.said)
    return Answered(
        model=answer.model,
        conversation=move.conversation,
        prompt=asked.prompt_number,
        names=move.names,
        whole=delivery.whole,
        tokens=billed,
    )


def _note(move: Move, fail: Fail | None) -> None:
    if move.mismatch is not None:
        _log.warning("conversation_ended", where=move.where, reason=move.mismatch)
    elif fail is not None:
        _log.info("failed_as_told", where=str(fail.place), how=fail.how)
    else:
        called = [call.name for call in move.answer.calls]
        tokens = move.answer.tokens
        _log.info("answered", where=move.where, calls=called, tokens=(tokens.input, tokens.output))
