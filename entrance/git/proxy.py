"""The routes of the git counter: who may use which repository, each answer recorded first.

`/git/<name>/info/refs?service=...`, `/git/<name>/git-upload-pack`, `/git/<name>/git-receive-pack`;
nothing else of git over HTTP is served. The server that mounts them must not inflate request
bodies (`AppRunner(app, auto_decompress=False)`): git gzips them.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path

import aiohttp
from aiohttp import hdrs, web

from entrance.decision import Allow, Decision, Deny
from entrance.errors import NotFound, Unavailable
from entrance.git.access import decide_access, printable
from entrance.git.advertise import AdvertisementFilter
from entrance.git.body import BodyError, RequestBody
from entrance.git.forward import Forwarder
from entrance.git.held import HeldPacks
from entrance.git.holding import Holding
from entrance.git.push import Pusher
from entrance.git.quarantine.quarantine import Quarantine
from entrance.git.relay import Relay, SandboxGoneError, plain
from entrance.git.unsettled import DELAYS_S, Unsettled
from entrance.git.upstream import (
    GitHost,
    RepositoryCredentials,
    Service,
    headers_of,
    request_headers,
)
from entrance.git.watched import Watched, report
from entrance.honeytokens.watch import Attempt, Watch
from entrance.identity import SESSION
from entrance.log.body_hash import BodyHash
from entrance.log.records import Audit, Decided, Kind, Outcome, Request, Traffic
from entrance.ports import PushInbox, Sessions, Witness
from entrance.session import RepoGrant
from entrance.turns import Turns

HELD, UNSETTLED = "held", "unsettled"

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

_SERVICES: dict[str, Service] = {
    "git-upload-pack": "git-upload-pack",
    "git-receive-pack": "git-receive-pack",
}
_SMART_ONLY = (
    "this door serves git's smart HTTP only: clone, fetch and push; no LFS, no file access"
)


@dataclass(frozen=True, slots=True)
class Limits:
    """What one request may cost the door."""

    push_bytes: int = 2 << 30
    fetch_request_bytes: int = 64 << 20
    drain_bytes: int = 1 << 30
    """What is read of a refused push, so that its sender sees the answer."""
    pushes_at_once: int = 4
    """Of one run; it waits with what is more."""
    idle_s: float = 120.0
    """The longest wait for the sandbox's next bytes."""


@dataclass(frozen=True, slots=True)
class Keeping:
    """Where pushes are kept while they are looked at, and who is told of them."""

    folder: Path
    inbox: PushInbox | None = None
    witness: Witness | None = None
    ask_again_s: Sequence[float] = DELAYS_S
    """Before each time that the host is asked what became of a push whose answer was lost."""


class GitProxy:
    """Streams fetches through; takes pushes in, and sends on those that are allowed."""

    def __init__(
        self,
        http: aiohttp.ClientSession,
        audit: Audit,
        credentials: RepositoryCredentials,
        watch: Watch,
        keeping: Keeping,
        *,
        sessions: Sessions,
        limits: Limits | None = None,
    ) -> None:
        """`http` is made by `upstream.client_session`; who makes it closes it.

        Without an inbox nobody can be asked about a push; without a witness nobody vouches for one.
        """
        self._host = host = GitHost(http, credentials)
        self._audit = audit
        self._watch = watch
        self._limits = limits or Limits()
        self._turns = Turns(self._limits.pushes_at_once)
        self._held = HeldPacks(keeping.folder / HELD)
        self._quarantine = Quarantine(keeping.folder, host, needed=self._held.mirrors)
        self._unsettled = Unsettled(
            keeping.folder / UNSETTLED,
            host,
            audit,
            keeping.witness,
            delays_s=keeping.ask_again_s,
        )
        forwarder = Forwarder(host, audit, self._quarantine, keeping.witness, self._unsettled)
        holding = Holding(self._held, keeping.inbox)
        self._pusher = Pusher(
            audit,
            watch,
            self._quarantine,
            forwarder,
            holding,
            sessions=sessions,
            drain_bytes=self._limits.drain_bytes,
        )

    async def lifespan(self, _: web.Application) -> AsyncIterator[None]:
        """What a crash left is swept and settled before the first push; all is ended at the end."""
        await self._quarantine.open()
        await asyncio.to_thread(self._held.sweep)
        self._unsettled.begin()
        try:
            yield
        finally:
            await self._unsettled.close()
            await self._quarantine.close()

    def routes(self) -> list[web.RouteDef]:
        """To be added to the entrance's application, behind its identity middleware."""
        return [
            web.get("/git/{name:.+}/info/refs", _closed(self._info_refs), allow_head=False),
            web.post("/git/{name:.+}/git-upload-pack", _closed(self._upload_pack)),
            web.post("/git/{name:.+}/git-receive-pack", _closed(self._receive_pack)),
            web.route(hdrs.METH_ANY, "/git/{rest:.*}", _closed(self._nothing_else)),
        ]

    async def _info_refs(self, request: web.Request) -> web.StreamResponse:
        service = _SERVICES.get(request.query.get("service", ""))
        if service is None or request.query_string != f"service={service}":
            return await self._nothing_else(request)
        grant = await self._admit(request, service, "info/refs")
        if isinstance(grant, Deny):
            return plain(HTTPStatus.FORBIDDEN, grant.reason)
        seq = await self._record(request, service, Allow(), "info/refs")
        source = self._host.advertisement(grant, service, request_headers(request.headers))
        see = AdvertisementFilter().feed if service == "git-receive-pack" else _as_it_is
        return await self._stream(
            Relay(request, f"application/x-{service}-advertisement"), seq, source, see
        )

    async def _upload_pack(self, request: web.Request) -> web.StreamResponse:
        service: Service = "git-upload-pack"
        posted = await self._posted(request, service)
        if isinstance(posted, web.Response):
            return posted
        grant, body = posted
        seq = await self._record(request, service, Allow(), service)
        session, attempt = request[SESSION], Attempt("git_fetch", grant.name)
        watched = Watched(self._watch.traps_of(session))
        source = self._host.request(grant, service, headers_of(request), watched.fetch(body))
        relay = Relay(request, f"application/x-{service}-result")
        try:
            return await self._stream(relay, seq, source, _as_it_is, body)
        finally:
            await report(self._watch, session, watched, attempt)
            if grant.push:
                self._quarantine.warm(grant)

    async def _receive_pack(self, request: web.Request) -> web.StreamResponse:
        posted = await self._posted(request, "git-receive-pack")
        if isinstance(posted, web.Response):
            return posted
        grant, body = posted
        session = request[SESSION]
        async with self._turns.turn(session.run):
            return await self._pusher.push(request, session, grant, body)

    async def _posted(
        self, request: web.Request, service: Service
    ) -> tuple[RepoGrant, RequestBody] | web.Response:
        grant = await self._admit(request, service, service)
        if isinstance(grant, Deny):
            return plain(HTTPStatus.FORBIDDEN, grant.reason)
        try:
            return grant, self._body(request, service)
        except BodyError as error:
            await self._record(request, service, Deny(str(error)), service)
            return plain(error.status, str(error))

    async def _nothing_else(self, request: web.Request) -> web.StreamResponse:
        denied = Deny(_SMART_ONLY)
        subject = f"{request.method} {printable(request.path)}"
        await self._audit.decided(Decided("request", subject, denied, request[SESSION]))
        return plain(HTTPStatus.FORBIDDEN, denied.reason)

    async def _admit(self, request: web.Request, service: Service, wanted: str) -> RepoGrant | Deny:
        """The grant that lets the request in; a refusal is recorded before it is returned."""
        name = request.match_info["name"]
        grant = decide_access(request[SESSION], name, push=service == "git-receive-pack")
        if isinstance(grant, Deny):
            await self._record(request, service, grant, wanted)
        return grant

    def _body(self, request: web.Request, service: Service) -> RequestBody:
        if request.content_type != f"application/x-{service}-request":
            raise BodyError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"this is no {service} request")
        push = service == "git-receive-pack"
        limits = self._limits
        return RequestBody(
            request,
            limit_bytes=limits.push_bytes if push else limits.fetch_request_bytes,
            idle_s=limits.idle_s,
        )

    async def _stream(
        self,
        relay: Relay,
        seq: int,
        source: AbstractAsyncContextManager[aiohttp.ClientResponse],
        see: Callable[[bytes], bytes],
        body: RequestBody | None = None,
    ) -> web.StreamResponse:
        error: Exception | None = SandboxGoneError("the sandbox left before the answer was whole")
        try:
            error = await relay.pass_on(source, see)
            if body is not None and body.refused is not None:
                error = body.refused
        finally:
            result = "failed" if error else "ok"
            detail = {"trouble": str(error or "")}
            moved = Traffic.of(body.sent if body else BodyHash(), relay.came)
            await self._audit.came_of_it(Outcome(seq, result, detail, moved))
        if error is None:
            return await relay.finish()
        return relay.cut_off() if relay.started else plain(_status_of(error), str(error))

    async def _record(
        self, request: web.Request, service: Service, decision: Decision, wanted: str
    ) -> int:
        kind: Kind = "git_push" if service == "git-receive-pack" else "git_fetch"
        name = printable(request.match_info["name"])
        grant = request[SESSION].repository(request.match_info["name"])
        asked = Request.to(request.method, f"{grant.url}/{wanted}") if grant else None
        detail = {"wanted": wanted}
        return await self._audit.decided(
            Decided(kind, name, decision, request[SESSION], detail=detail, request=asked)
        )


def _closed(handler: Handler) -> Handler:
    """What can't be recorded is not answered: 503 instead."""

    async def handle(request: web.Request) -> web.StreamResponse:
        try:
            return await handler(request)
        except Unavailable as error:
            return plain(HTTPStatus.SERVICE_UNAVAILABLE, str(error))

    return handle


def _as_it_is(chunk: bytes) -> bytes:
    return chunk


def _status_of(error: Exception) -> HTTPStatus:
    if isinstance(error, BodyError):
        return error.status
    return HTTPStatus.NOT_FOUND if isinstance(error, NotFound) else HTTPStatus.BAD_GATEWAY
