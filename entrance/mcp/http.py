"""The one path of the MCP gateway, `/mcp`: POST for both eras, GET and DELETE for sessions."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from aiohttp import hdrs, web

from entrance.decision import Deny
from entrance.honeytokens.watch import TO_THE_SANDBOX, Attempt, Watch
from entrance.identity import SESSION
from entrance.intake import BodyRefused, read_body
from entrance.log.records import Audit, Decided
from entrance.mcp.counter import Counter
from entrance.mcp.envelope import ROUTING
from entrance.mcp.exchange import Exchange
from entrance.mcp.hosts import foreign
from entrance.mcp.messages import (
    CANCELLED,
    INVALID_REQUEST,
    Answered,
    Notice,
    Reply,
    Request,
    failure,
)
from entrance.mcp.protocol import Said, read
from entrance.mcp.sessions import ClientSession, ClientSessions
from entrance.mcp.stream import Events, as_response, relay, respond, takes_events
from entrance.session import Session

PATH = "/mcp"
BODY_BYTES = 4 << 20
SESSION_HEADER = "Mcp-Session-Id"
NO_SESSION = -32001


class Rim:
    """Takes requests, finds their sessions, and sends the answers."""

    def __init__(self, counter: Counter, audit: Audit, watch: Watch) -> None:
        self._counter = counter
        self._audit = audit
        self._watch = watch
        self._sessions = ClientSessions()
        self._endless: set[Callable[[], object]] = set()
        """What ends each stream that would go on until its client leaves."""

    def routes(self) -> list[web.RouteDef]:
        """The gateway's route."""
        return [web.route("*", PATH, self.handle)]

    async def shutdown(self, _: object = None) -> None:
        """End the streams, so that nobody has to wait for their clients."""
        for end in tuple(self._endless):
            end()

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """The answer to a request of any method."""
        wrong = foreign(*_meant_for(request))
        if wrong:
            return await self._not_taken(request, BodyRefused(403, wrong))
        match request.method:
            case hdrs.METH_POST:
                return await self._post(request)
            case hdrs.METH_GET if SESSION_HEADER in request.headers:
                return await self._get(request)
            case hdrs.METH_DELETE if SESSION_HEADER in request.headers:
                return await self._delete(request)
        message = "Only POST is served here outside of a session."
        return _refused(405, message, {hdrs.ALLOW: hdrs.METH_POST})

    async def _post(self, request: web.Request) -> web.StreamResponse:
        session = request[SESSION]
        try:
            body = await read_body(request, BODY_BYTES)
        except BodyRefused as refused:
            return await self._not_taken(request, refused)
        headers = {name: request.headers.getall(name, []) for name in ROUTING}
        said = read(headers, body)
        if found := self._watch.look(session, body):
            await self._watch.refuse(session, found, "a message to a tool", _attempt(said))
            return _refused(403, TO_THE_SANDBOX)
        return await self._taken(request, said)

    async def _taken(self, request: web.Request, said: Said) -> web.StreamResponse:
        client = self._client(request, said)
        if isinstance(client, Reply):
            return as_response(client)
        match said:
            case Reply():
                return as_response(said)
            case Request(method="initialize"):
                return as_response(self._opened(request[SESSION], said))
            case Request():
                return await self._done(request, said, client)
            case Notice(method="notifications/cancelled") if client:
                client.cancel(said.params.get("requestId"))
            case Answered() if client:
                client.answered(said)
        return as_response(Reply(202))

    def _opened(self, session: Session, request: Request) -> Reply:
        agreed, reply = self._counter.initialized(session, request)
        return replace(reply, session=self._sessions.open(session, agreed))

    def _client(self, request: web.Request, said: Said) -> ClientSession | Reply | None:
        """The session of the request; None for those that need none."""
        ids = request.headers.getall(SESSION_HEADER, ())
        opens = isinstance(said, Request) and said.method == "initialize"
        modern = isinstance(said, Request | Notice) and said.era == "modern"
        if isinstance(said, Reply) or opens or modern or not ids:
            return None
        found = self._sessions.find(request[SESSION], ids[0]) if len(ids) == 1 else None
        rpc_id = said.id if isinstance(said, Request) else None
        return found or failure(rpc_id, NO_SESSION, "There is no such session", status=404)

    async def _done(
        self, request: web.Request, asked: Request, client: ClientSession | None
    ) -> web.StreamResponse:
        session = request[SESSION]
        exchange = client.exchange() if client else Exchange(asked.era)
        if not takes_events(request):  # who reads no events is neither told nor asked anything
            exchange = Exchange(asked.era, heard=False)

        async def work() -> Reply:
            if client is None:
                with self._ended_at_shutdown(asked, exchange):
                    return await self._counter.answer(session, asked, exchange)
            with client.doing_now(asked.id, exchange):
                return await self._counter.answer(session, asked, exchange)

        withdrawn = failure(asked.id, CANCELLED, "The request was cancelled")
        return await respond(request, exchange, work, withdrawn)

    @contextmanager
    def _ended_at_shutdown(self, asked: Request, exchange: Exchange) -> Iterator[None]:
        if asked.method != "subscriptions/listen":
            yield
            return
        self._endless.add(exchange.withdraw)
        try:
            yield
        finally:
            self._endless.discard(exchange.withdraw)

    async def _get(self, request: web.Request) -> web.StreamResponse:
        client = self._client(request, Answered(None, {}))
        if not isinstance(client, ClientSession):
            return _refused(404, "There is no such session.")
        if not takes_events(request):
            return _refused(406, "This is a stream of events.")
        if client.listening:
            return _refused(409, "The session has its stream already.")
        client.listening = True
        exchange, events = client.exchange(), Events(request)
        self._endless.add(exchange.end)
        try:
            async with asyncio.TaskGroup() as tasks:
                listening = tasks.create_task(self._told(request[SESSION], exchange))
                client.on_close(exchange.end)
                await relay(events, exchange)
                listening.cancel()
        finally:
            client.listening = False
            self._endless.discard(exchange.end)
        return await events.end()

    async def _told(self, session: Session, exchange: Exchange) -> None:
        await self._counter.listen(session, exchange)
        exchange.end()

    async def _delete(self, request: web.Request) -> web.StreamResponse:
        client = self._client(request, Answered(None, {}))
        if not isinstance(client, ClientSession):
            return _refused(404, "There is no such session.")
        session = request[SESSION]
        if self._sessions.close(session, request.headers[SESSION_HEADER]):
            await self._counter.leave(session)
        return web.Response(status=200)

    async def _not_taken(self, request: web.Request, refused: BodyRefused) -> web.StreamResponse:
        reason, what = Deny(str(refused)), f"{request.method} {PATH}"
        await self._audit.decided(Decided("request", what, reason, request[SESSION]))
        return _refused(refused.status, str(refused))


def _refused(
    status: int, message: str, headers: Mapping[str, str] | None = None
) -> web.StreamResponse:
    """A refusal that has nothing to do with what the message says: an error all the same."""
    response = as_response(failure(None, INVALID_REQUEST, message, status))
    response.headers.extend(headers or {})
    return response


def _meant_for(request: web.Request) -> tuple[str, list[str], list[str]]:
    own = request.transport.get_extra_info("sockname") if request.transport else None
    hosts = request.headers.getall(hdrs.HOST, [])
    return (str(own[0]) if own else ""), hosts, request.headers.getall(hdrs.ORIGIN, [])


def _attempt(said: Said) -> Attempt:
    if isinstance(said, Request) and said.method == "tools/call":
        return Attempt("tool_call", str(said.params["name"])[:200])
    return Attempt("request", f"POST {PATH}")
