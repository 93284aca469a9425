"""Who asks: a run token and the address that it comes from, checked together before anything else.

The token is looked for where clients put one: `Authorization: Bearer`, the password of
`Authorization: Basic` (git), `Authorization: token` (GitHub's libraries), `private-token` (GitLab's),
`x-api-key`, `x-goog-api-key`, and on Google's paths `?key=`, as some of its clients do (no query is ever
passed on, logged or recorded with it). The address is the peer of the TCP connection; no header can
change it.
"""

import base64
import binascii
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Literal, Protocol

from aiohttp import hdrs, web
from aiohttp.typedefs import Middleware
from multidict import CIMultiDictProxy, MultiMapping
from structlog.contextvars import bind_contextvars

from entrance.answers import refusal
from entrance.decision import Deny
from entrance.log.records import Audit, Decided
from entrance.ports import Addresses, Sessions
from entrance.session import Ended, Session, hash_token

SESSION = web.RequestKey("session", Session)
"""Where handlers find the session of a request that got past the door."""

BACKEND = "/backend"
"""Below it the sandboxes of MCP servers are served, and nobody else; they are served nowhere else."""

OPEN_PATHS = frozenset({"/healthz"})
"""Paths that anyone on the sandboxes' bridge may ask; they tell nothing."""

ASK_FOR_TOKEN: Mapping[str, str] = {hdrs.WWW_AUTHENTICATE: 'Basic realm="sandgate"'}
"""git asks its credential helper only when it is asked like this."""

NO_TOKEN = "This door opens to a run's token only, and the request shows none."  # noqa: S105 - words
CLOSED = "The token that the request shows opens nothing from here."

KEY_IN_QUERY = re.compile(r"/model/[^/]+/v1[^/]*/models/.*")
"""Paths, Google's, where the token may stand in the query, as `key`."""

_KEY_HEADERS = ("x-api-key", "x-goog-api-key", "private-token")
_BARE_SCHEMES = frozenset({"bearer", "token"})


class OpenSessions(Sessions, Addresses, Protocol):
    """The open sessions, by token and by address."""


Trouble = Literal["missing", "several", "unknown", "ended", "foreign"]


def tokens_shown(headers: CIMultiDictProxy[str]) -> frozenset[str]:
    """Every token in the request's headers; an unreadable header shows none."""
    shown = [value.strip() for name in _KEY_HEADERS for value in headers.getall(name, ())]
    for value in headers.getall(hdrs.AUTHORIZATION, ()):
        scheme, _, rest = value.strip().partition(" ")
        if scheme.lower() in _BARE_SCHEMES:
            shown.append(rest.strip())
        elif scheme.lower() == "basic":
            shown.append(_basic_password(rest.strip()))
    return frozenset(token for token in shown if token)


def tokens_in_query(path: str, query: MultiMapping[str]) -> frozenset[str]:
    """Every token in the request's query, where one may be."""
    if not KEY_IN_QUERY.fullmatch(path):
        return frozenset()
    return frozenset(token for token in query.getall("key", ()) if token)


def _basic_password(encoded: str) -> str:
    try:
        decoded = base64.b64decode(encoded, validate=True).decode("utf-8", "surrogateescape")
    except (binascii.Error, ValueError):
        return ""
    return decoded.partition(":")[2]


def authenticate(found: Session | Ended | None, address: str) -> Session | Deny:
    """The session, if its token comes from its own address. The reason is for the record only."""
    match found:
        case Session() if found.address == address:
            return found
        case Session():
            return Deny(f"foreign token: it belongs to run {found.run} at {found.address}")
        case Ended():
            return Deny(f"ended run: the token died with run {found.run}")
        case None:
            return Deny("unknown token: it was never one of ours, or ended long ago")


def identity(sessions: OpenSessions, audit: Audit, servers: Sessions | None = None) -> Middleware:
    """The middleware that lets nothing in without a session, and records each it turns away.

    `servers`: the sessions of MCP servers' sandboxes, which open backends, as runs' open the rest.

    No token: 401. A token that opens nothing here: 403, as harnesses retry a 401 for a minute and
    take a 403 as the end (CASE-101). The client isn't told which of the reasons it was.
    """

    @web.middleware
    async def middleware(
        request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        if request.path in OPEN_PATHS:
            return await handler(request)
        address = peer_address(request)
        shown = tokens_shown(request.headers)
        if request.query_string:
            shown |= tokens_in_query(request.path, request.query)
        known = servers if request.path.startswith(f"{BACKEND}/") else sessions
        found = known.find(hash_token(next(iter(shown)))) if known and len(shown) == 1 else None
        session = authenticate(found, address)
        if isinstance(session, Session):
            request[SESSION] = session
            # For the request's own task, and so for nobody else.
            bind_contextvars(run=session.run, task=session.task, agent=session.agent)
            return await handler(request)
        why, denied = _told_apart(len(shown), found, session)
        await audit.decided(
            Decided(
                "auth",
                f"{request.method} {request.path[:200]}",
                denied,
                _server_at(sessions, address) if found is None else None,
                address=address,
                run=found.run if found else None,
                detail={"trouble": why},
            )
        )
        if why == "missing":
            return refusal(request.path, 401, "no_token", NO_TOKEN, ASK_FOR_TOKEN)
        return refusal(request.path, 403, "closed", CLOSED)

    return middleware


def peer_address(request: web.Request) -> str:
    """The address at the other end of the connection; empty when it has just gone."""
    peer = request.transport.get_extra_info("peername") if request.transport else None
    return str(peer[0]) if peer else ""


def _server_at(sessions: Addresses, address: str) -> Session | None:
    """An MCP server's sandbox has no token for any door; that it tried is said of it all the same."""
    at = sessions.at(address)
    return at if at is not None and at.server else None


def _told_apart(shown: int, found: Session | Ended | None, denied: Deny) -> tuple[Trouble, Deny]:
    if shown == 0:
        return "missing", Deny("no token")
    if shown > 1:
        return "several", Deny("several tokens: the request shows different ones")
    match found:
        case Session():
            return "foreign", denied
        case Ended():
            return "ended", denied
        case None:
            return "unknown", denied
