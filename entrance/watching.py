"""The middleware that looks at the address and the headers of every request, before anything else does.

Whose sandbox it is, is known by the address: also when the request shows no token, or another's.
"""

from collections.abc import Awaitable, Callable

from aiohttp import web
from aiohttp.typedefs import Middleware

from entrance.answers import refusal
from entrance.honeytokens.canaries import Canary
from entrance.honeytokens.watch import TO_THE_SANDBOX, Attempt, Watch
from entrance.identity import peer_address
from entrance.ports import Addresses
from entrance.session import Session


def watching(watch: Watch, addresses: Addresses) -> Middleware:
    """The middleware. Raises: Unavailable when what it finds can't be recorded."""

    @web.middleware
    async def middleware(
        request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        address = peer_address(request)
        session = addresses.at(address)
        found = _within(watch, session, request) if session else None
        if session is None or found is None:
            return await handler(request)
        canary, where = found
        attempt = Attempt("request", f"{request.method} {request.path[:200]}", address)
        await watch.refuse(session, canary, where, attempt)
        return refusal("", 403, "refused", TO_THE_SANDBOX)

    return middleware


def _within(watch: Watch, session: Session, request: web.Request) -> tuple[Canary, str] | None:
    address = request.raw_path.encode("utf-8", "surrogateescape")
    headers = b"\n".join([name + b"=" + value for name, value in request.raw_headers])
    if watch.look(session, b"%b\n%b" % (address, headers)) is None:  # as of nearly all requests
        return None
    for part, where in (
        (address, "the address of a request"),
        (headers, "the headers of a request"),
    ):
        if found := watch.look(session, part):
            return found, where
    return None
