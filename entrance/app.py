"""The door, put together: one aiohttp application behind one identity middleware.

Everything that it needs comes in as arguments; whoever runs it (the runner) owns their life.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from time import monotonic
from traceback import format_exception

import aiohttp
import structlog
from aiohttp import web
from aiohttp.typedefs import Middleware

from entrance.answers import refusal
from entrance.backend.counter import BackendCounter
from entrance.decision import Deny
from entrance.errors import SandgateError, Unavailable
from entrance.git.proxy import GitProxy, Keeping
from entrance.honeytokens.watch import Watch
from entrance.identity import SESSION, OpenSessions, identity, peer_address
from entrance.log.records import Audit, Decided
from entrance.mcp.connections import Connections
from entrance.mcp.counter import Counter
from entrance.mcp.gateway import Gateway, Limits
from entrance.mcp.http import Rim
from entrance.mcp.judging import Judge
from entrance.mcp.released import Released
from entrance.model.budgets import Budgets
from entrance.model.call import Settler
from entrance.model.gateway import ModelGateway
from entrance.model.prices import PriceList
from entrance.model.provider import Provider
from entrance.model.upstream import Upstream
from entrance.ports import McpServer, Meter, ResultFiles, ServerSandboxes, ToolProvider
from entrance.vault.client_tokens import ClientTokens
from entrance.vault.installation import InstallationTokens
from entrance.vault.repositories import VaultRepositories
from entrance.vault.servers import VaultServers
from entrance.vault.vault import Vault
from entrance.watching import watching

READ_BYTES = 1 << 18
"""Of a body, at a time: a push has many."""
log = structlog.get_logger()

CONNECTIONS = web.AppKey("connections", Connections)
"""Where the application has its connections, for whoever keeps them up to date."""

_CLOSED = "The door is closed for now: what it decides can't be recorded or looked up. Try again."
_FAILED = "The door could not do this; why is in its log, for an operator to see."


@dataclass(frozen=True, slots=True)
class Outbound:
    """The HTTP clients that the counters reach the world with; see each counter's `client_session`."""

    git: aiohttp.ClientSession
    model: aiohttp.ClientSession
    mcp: aiohttp.ClientSession


def make_app(
    *,
    sessions: OpenSessions,
    audit: Audit,
    watch: Watch,
    vault: Vault,
    meter: Meter,
    providers: Sequence[Provider],
    prices: PriceList,
    tool_providers: Sequence[ToolProvider],
    outbound: Outbound,
    pushes: Keeping,
    servers: Sequence[McpServer] = (),
    sandboxes: ServerSandboxes | None = None,
    tokens: InstallationTokens | None = None,
    judge: Judge | None = None,
    files: ResultFiles | None = None,
    released: Released | None = None,
    limits: Limits | None = None,
    clock: Callable[[], float] = monotonic,
) -> web.Application:
    """The entrance's application. Serve it with `make_runner`. `clock` counts seconds."""
    app = web.Application(
        middlewares=[
            errors(),
            watching(watch, sessions),
            identity(sessions, audit, sandboxes),
            paths(audit),
        ]
    )
    settler = Settler(prices, Budgets(meter), audit, clock)
    models = ModelGateway(providers, vault, Upstream(outbound.model, settler), settler, watch)
    app.add_routes([web.get("/healthz", _healthz)])
    credentials = VaultServers(vault, ClientTokens(vault, outbound.mcp, clock))
    connections = Connections(
        tool_providers, outbound.mcp, credentials, clock, servers, sandboxes=sandboxes
    )
    app[CONNECTIONS] = connections
    if released is not None:
        released.providers = connections.providers
        released.said = connections.said_of
    judge = replace(judge or Judge(), said=connections.said_of)
    gateway = Gateway(
        connections, audit, clock, limits, judge=judge, files=files, redacted=vault.redacted
    )
    mcp = Rim(Counter(gateway, sessions, audit, clock), audit, watch)
    app.add_routes(mcp.routes())
    app.on_shutdown.append(mcp.shutdown)
    app.on_cleanup.append(gateway.offering.lists.close)
    app.on_cleanup.append(connections.closed)
    repositories = VaultRepositories(vault, tokens)
    git = GitProxy(outbound.git, audit, repositories, watch, pushes, sessions=sessions)
    app.add_routes(git.routes())
    app.cleanup_ctx.append(git.lifespan)
    app.add_routes(models.routes())
    app.add_routes(BackendCounter(outbound.mcp, audit, vault, watch).routes())
    return app


def make_runner(app: web.Application) -> web.AppRunner:
    """A runner with what the counters need: bodies as they are sent, and an end when the client leaves."""
    return web.AppRunner(
        app,
        access_log=None,
        auto_decompress=False,
        handler_cancellation=True,
        shutdown_timeout=5.0,
        read_bufsize=READ_BYTES,
    )


def errors() -> Middleware:
    """The middleware that turns errors into answers that say no more than they should."""

    @web.middleware
    async def middleware(
        request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        try:
            return await handler(request)
        except web.HTTPException as error:
            return refusal(request.path, error.status, "http", error.reason)
        except Exception as error:
            if request.writer.output_size:
                raise  # an answer is already on its way: all that is left is to break off
            return _answer_to(error, request.path)

    return middleware


def paths(audit: Audit) -> Middleware:
    """The middleware that records a request for which there is no route.

    No route could do it: `OPTIONS *` and `CONNECT host:port` have no path that one could match.
    """

    @web.middleware
    async def middleware(
        request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        if request.match_info.http_exception is None:
            return await handler(request)
        wanted, _, _ = request.raw_path.partition("?")  # a query may hold what must not be kept
        what = f"{request.method} {wanted[:200]}"
        reason = Deny("there is no such path at this door")
        who, address = request.get(SESSION), peer_address(request)
        await audit.decided(Decided("request", what, reason, who, address=address))
        return refusal(request.path, 404, "no_such_path", "There is no such path at this door.")

    return middleware


def _answer_to(error: Exception, path: str) -> web.Response:
    match error:
        case Unavailable():
            log.error("request_refused", path=path[:200], error=str(error))
            return refusal(path, 503, "unavailable", _CLOSED)
        case SandgateError():
            log.error("request_failed", path=path[:200], error=str(error))
            return refusal(path, 502, "failed", _FAILED)
        case _:
            # As text: a renderer that shows the frames' variables would show tokens and keys.
            trace = "".join(format_exception(error))
            log.error("request_crashed", path=path[:200], trace=trace)
            return refusal(path, 500, "internal", _FAILED)


async def _healthz(request: web.Request) -> web.Response:
    del request
    return web.json_response({"status": "ok"})
