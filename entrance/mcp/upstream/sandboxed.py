"""A server over stdio as a connection: in a sandbox of its own for each run, started when it is needed.

Starting may take long: packages are fetched. So it goes on by itself; who waits for it is told after a
while that it is being started, and who listens hears when it is there.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from http import HTTPStatus

import aiohttp

from entrance.errors import NotFound, SandgateError, Unavailable
from entrance.mcp.connection import Caller, Kind, Lost, Starting, Tell
from entrance.mcp.messages import Failure, Json
from entrance.mcp.upstream.answer import Answer
from entrance.mcp.upstream.endpoint import Endpoint, Outgoing
from entrance.mcp.upstream.server import IDLE_S, Reached, ServerConnection
from entrance.mcp.upstream.streamable import StreamableHttp
from entrance.ports import McpServer, ServerSandboxes
from entrance.session import Session
from entrance.vault.credentials import SecretHeaders
from entrance.vault.discovery import Challenge

START_S = 120.0
PATIENCE_S = 20.0
"""So long somebody waits for a start: harnesses give a list of tools up after half a minute."""
AGAIN_S = 20.0
"""So long nobody tries to start what could not be started."""
_SESSION = "Mcp-Session-Id"
OURS = "Sandgate-Bridge"
"""The header of what the bridge beside the server answers; all else comes from on the way to it."""


class SandboxedEndpoint(Endpoint):
    """A run's server, as it is reached. What answers in its place is not taken for it."""

    def __init__(
        self,
        http: aiohttp.ClientSession,
        server: McpServer,
        sandboxes: ServerSandboxes,
        session: Session,
    ) -> None:
        super().__init__(http, server, _NoSecrets())
        self._sandboxes = sandboxes
        self._session = session

    @asynccontextmanager
    async def open(self, request: Outgoing) -> AsyncIterator[Answer]:
        try:
            async with super().open(request) as answer:
                if OURS not in answer.headers:
                    raise _on_the_way(self._server.name, answer.status)
                yield answer
        except (Lost, Unavailable, NotFound) as error:
            if not isinstance(error, Starting):
                self._sandboxes.doubt(self._session, self._server)
            raise

    async def _way(self, request: Outgoing) -> tuple[str, SecretHeaders]:
        """What belongs to a session starts nothing: the session ended with its server."""
        start = _SESSION not in request.headers
        try:
            place = await self._sandboxes.reach(self._session, self._server, start=start)
        except Unavailable as error:
            raise Starting(f"{self._server.name} can't be started: {error}") from error
        return place.url, SecretHeaders(place.headers, *place.hidden)


class _NoSecrets:
    """Implements `endpoint.Secrets`: such a server gets none."""

    async def headers_for(self, server: McpServer, method: str, url: str) -> SecretHeaders:
        raise NotFound(f"{server.name} has no secret for {method} {url}")

    async def refused(self, server: McpServer, shown: SecretHeaders, why: Challenge) -> bool:
        del server, shown, why
        return False


@dataclass
class _Run:
    """What there is for one run."""

    session: Session
    behind: ServerConnection
    used_at: float
    starting: "asyncio.Future[None] | None" = None
    there: asyncio.Event = field(default_factory=asyncio.Event)
    failed: tuple[float, str] | None = None
    """When it could not be started, and why."""


class SandboxedConnection:
    """Implements `connection.Connection`. `clock` counts seconds."""

    foreign = True
    provider = None
    facts = None

    def __init__(
        self,
        http: aiohttp.ClientSession,
        server: McpServer,
        sandboxes: ServerSandboxes,
        clock: Callable[[], float],
        patience_s: float = PATIENCE_S,
    ) -> None:
        self.name = server.name
        self.bounds = server.bounds
        self._http = http
        self._server = server
        self._sandboxes = sandboxes
        self._clock = clock
        self._patience_s = patience_s
        self._runs: dict[str, _Run] = {}

    async def listed(self, caller: Caller, kind: Kind) -> Sequence[Json]:
        return await (await self._started(caller)).listed(caller, kind)

    def at_hand(self, caller: Caller, kind: Kind) -> Sequence[Json] | None:
        return self._of(caller.session).behind.at_hand(caller, kind)

    def doubt(self, session: Session, kind: Kind) -> bool:
        return self._of(session).behind.doubt(session, kind)

    async def do(self, caller: Caller, method: str, params: Json) -> Json | Failure:
        return await (await self._started(caller)).do(caller, method, params)

    async def listen(self, caller: Caller, wanted: Json, tell: Tell) -> None:
        """This starts nothing; what was not there when it began has changed its tools by coming."""
        run = self._of(caller.session)
        if not run.there.is_set():
            await run.there.wait()
            await tell("notifications/tools/list_changed", {})
        await run.behind.listen(caller, wanted, tell)

    async def leave(self, session: Session) -> None:
        run = self._runs.pop(session.token_sha256, None)
        if run is not None:
            await self._given_up(run)

    async def close(self) -> None:
        """Give up every run's server."""
        while self._runs:
            _, run = self._runs.popitem()
            await self._given_up(run)
            await self._sandboxes.end(run.session, self._server)

    async def _started(self, caller: Caller) -> ServerConnection:
        """The run's server, once it is there. Raises: Starting when it isn't in time, or can't be."""
        run = self._of(caller.session)
        if run.there.is_set():
            return run.behind
        if run.failed and self._clock() - run.failed[0] < AGAIN_S:
            raise Starting(run.failed[1])
        if run.starting is None:
            # It goes on when whoever wanted it has gone; `_given_up` ends it.
            run.starting = asyncio.ensure_future(self._start(run, caller))
        await asyncio.wait({run.starting}, timeout=self._patience_s)
        if run.there.is_set():
            return run.behind
        raise Starting(run.failed[1] if run.failed else f"{self.name} is being started; try again")

    async def _start(self, run: _Run, caller: Caller) -> None:
        run.failed = None
        try:
            async with asyncio.timeout(START_S):
                await run.behind.listed(caller, "tools")
            run.there.set()
        except (SandgateError, TimeoutError) as error:
            why = str(error) or f"it was not there after {START_S:.0f} s"
            own = isinstance(error, Starting)
            run.failed = (self._clock(), why if own else f"{self.name} can't be started: {why}")
        finally:
            run.starting = None

    def _of(self, session: Session) -> _Run:
        run = self._runs.get(session.token_sha256)
        if run is None:
            self._forget_idle()
            endpoint = SandboxedEndpoint(self._http, self._server, self._sandboxes, session)
            way = Reached(self.name, lambda: StreamableHttp(endpoint), modern=endpoint)
            behind = ServerConnection(way, self._clock)
            run = self._runs[session.token_sha256] = _Run(session, behind, self._clock())
        run.used_at = self._clock()
        return run

    def _forget_idle(self) -> None:
        """Their sandboxes have ended by themselves."""
        for token, run in list(self._runs.items()):
            if self._clock() - run.used_at > IDLE_S and run.starting is None:
                del self._runs[token]

    async def _given_up(self, run: _Run) -> None:
        if run.starting is not None:
            run.starting.cancel()
            with suppress(asyncio.CancelledError):
                await run.starting
        await run.behind.close()


def _on_the_way(name: str, status: int) -> SandgateError:
    """What an answer of somebody on the way to the server means."""
    if status == HTTPStatus.NOT_FOUND:
        return NotFound(f"{name} is gone")
    return Lost(f"{name} did not answer itself: HTTP {status}")
